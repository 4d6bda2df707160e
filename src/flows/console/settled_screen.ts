/** Whether a screen has come to rest. */

import type { Picture } from "../../base/png.ts";

/** A character's cell on a text screen of high resolution; what changes within one is a cursor that blinks. */
const CURSOR_WIDTH = 20;
const CURSOR_HEIGHT = 40;

/** Whether two pictures show the same, but for what a blinking cursor changes. */
export function showsTheSame(before: Picture, after: Picture): boolean {
  if (before.width !== after.width || before.height !== after.height) return false;
  const row = before.width * 3;
  let [left, right, top, bottom] = [Infinity, -1, -1, -1];
  for (let y = 0; y < before.height; y++) {
    const start = y * row;
    for (let at = start; at < start + row; at++) {
      if (before.rgb[at] === after.rgb[at]) continue;
      const x = Math.floor((at - start) / 3);
      if (top < 0) top = y;
      bottom = y;
      left = Math.min(left, x);
      right = Math.max(right, x);
      if (right - left >= CURSOR_WIDTH || bottom - top >= CURSOR_HEIGHT) return false;
    }
  }
  return true;
}
