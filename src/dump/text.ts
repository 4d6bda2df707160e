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
