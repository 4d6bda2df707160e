/** Text that others wrote (guests, dumps, providers, callers), made safe to show: nothing in it acts on a terminal. */

import { once } from "./once.ts";

/**
 * C0 and C1 controls, DEL, zero-width space, direction marks and overrides, line separators, the byte order mark,
 * interlinear and tag characters, lone surrogates. The zero-width joiners stay: emoji and several scripts need them.
 */
const invisible = once(() =>
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001F\u007F-\u009F\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]|\p{Surrogate}/gu
);

/** Most texts are plain; this test is cheap, while making and first using the full rule costs a millisecond. */
const PLAIN = /^[ -~]*$/;
const PLAIN_LINES = /^[ -~\n\t]*$/;

/** Shows control and invisible characters as `\xNN` or `\u{N}`. Line breaks and tabs are shown too. */
export function visibleText(text: string): string {
  return PLAIN.test(text) ? text : text.replace(invisible(), escapeCharacter);
}

/** As {@link visibleText}, but line breaks (also `\r\n`) and tabs do their work. */
export function visibleLines(text: string): string {
  if (PLAIN_LINES.test(text)) return text;
  return text.replaceAll("\r\n", "\n").replace(
    invisible(),
    (character) => character === "\n" || character === "\t" ? character : escapeCharacter(character),
  );
}

/** The same JSON in characters that no terminal acts on: what JSON text may hold raw is written as `\uNNNN`. */
export function visibleJson(json: string): string {
  if (PLAIN_LINES.test(json)) return json;
  return json.replace(invisible(), (character) => {
    if (character === "\n") return character;
    return Array.from(
      { length: character.length },
      (_, index) => `\\u${hexadecimal(character.charCodeAt(index), 4)}`,
    ).join("");
  });
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${hexadecimal(code, 2)}` : `\\u{${hexadecimal(code, 1)}}`;
}

function hexadecimal(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
