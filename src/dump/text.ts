/** Text that a dump or a guest wrote, made safe to show: such text is hostile until proven otherwise. */

/** No text field of any dump format is shown longer than this many UTF-16 units. */
export const MAXIMUM_TEXT_UNITS = 512;

/**
 * C0 and C1 controls, DEL, soft hyphen, zero-width and bidirectional marks, line separators, the byte order
 * mark, interlinear and tag characters, and lone surrogates: everything that a terminal may act on or that hides.
 */
const INVISIBLE =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]|\p{Surrogate}/gu;

/**
 * Shows control and invisible characters as `\xNN` or `\u{N}` and cuts the text at `cap` units, marking the cut
 * with `…`. Never throws; gives printable text only.
 */
export function visibleText(text: string, cap: number = MAXIMUM_TEXT_UNITS): string {
  const cut = text.length > cap;
  const kept = cut ? text.slice(0, cap) : text;
  const shown = kept.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
  return cut ? `${shown}…` : shown;
}
