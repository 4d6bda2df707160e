/** The last words of a machine, in the failure that its end or its silence is: its log may be gone by the time it is read. */

import { HvError } from "../base/errors.ts";

const TAIL_LINES = 20;
const TAIL_CHARACTERS = 4096;
const HINT_LINES = 4;
const HINT_LINE_CHARACTERS = 160;
/** Colours and cursor moves, which mean nothing outside a terminal (ECMA-48, control sequences). */
// deno-lint-ignore no-control-regex
const CONTROL_SEQUENCE = /\u001B\[[0-?]*[ -/]*[@-~]/g;

/** The last 20 lines with text, at most 4096 characters of them; `undefined` when there are none. */
export function cutLastWords(log: string): string | undefined {
  const lines = log.replace(CONTROL_SEQUENCE, "").split(/[\r\n]+/).map((line) => line.trimEnd());
  const text = lines.filter((line) => line !== "").slice(-TAIL_LINES).join("\n").slice(-TAIL_CHARACTERS);
  return text === "" ? undefined : text;
}

/** The failure with the words as `serial_tail`, and a hint that quotes their end before it says what to do. */
export function withLastWords(error: HvError, words: string | undefined, advice: string): HvError {
  const { serial_tail: known } = error.context;
  const tail = typeof known === "string" ? known : words;
  return new HvError(error.code, error.message, {
    hint: tail === undefined ? advice : `${advice}. Its serial log ends: ${quoteEnd(tail)}`,
    context: { ...error.context, ...(tail === undefined ? {} : { serial_tail: tail }) },
    retryable: error.retryable,
    cause: error.cause ?? error,
  });
}

function quoteEnd(tail: string): string {
  const lines = tail.split("\n").slice(-HINT_LINES).map((line) => line.trim());
  return lines.map((line) =>
    line.length > HINT_LINE_CHARACTERS ? `${line.slice(0, HINT_LINE_CHARACTERS)}...` : line
  ).join(" | ");
}
