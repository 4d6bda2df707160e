/** Text fields of dumps, cut to a length that no honest writer needs and made safe to show. */

import { visibleText } from "../base/visible_text.ts";

/** No text field of any dump format is shown longer than this many UTF-16 units. */
export const MAXIMUM_TEXT_UNITS = 512;

/** Shows invisible characters and cuts the text at `cap` units, marking the cut with `…`. */
export function fieldText(text: string, cap: number = MAXIMUM_TEXT_UNITS): string {
  const kept = text.length > cap ? text.slice(0, cap) : text;
  const shown = visibleText(kept);
  return kept.length < text.length ? `${shown}…` : shown;
}

/** UTF-16LE text up to a NUL or the end; half a unit at the end is left out. */
export function decodeUtf16(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    const unit = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
    if (unit === 0) break;
    text += String.fromCharCode(unit);
  }
  return text;
}
