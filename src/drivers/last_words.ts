/** The last words of a machine, in the failure that its end or its silence is: its log may be gone by the time it is read. */

import { HvError } from "../base/errors.ts";

const TAIL_LINES = 20;
const TAIL_CHARACTERS = 4096;
const HINT_LINES = 4;
const HINT_LINE_CHARACTERS = 160;
/** Colours and cursor moves, which mean nothing outside a terminal (ECMA-48, control sequences). */
// deno-lint-ignore no-control-regex
const CONTROL_SEQUENCE = /\u001B\[[0-?]*[ -/]*[@-~]/g;

/** How Linux begins the line that says why it stops; the registers and the trace come behind it. */
const PANIC = /Kernel panic - not syncing/;
/** Between the reason and the end of a log, where something in between is left out. */
const LEFT_OUT = "...";

/**
 * The last 20 lines with text, at most 4096 characters of them; `undefined` when there are none. The line with the
 * reason of a panic comes first when it lies above them.
 */
export function cutLastWords(log: string): string | undefined {
  const all = log.replace(CONTROL_SEQUENCE, "").split(/[\r\n]+/).map((line) => line.trimEnd());
  const lines = all.filter((line) => line !== "");
  const text = lines.slice(-TAIL_LINES).join("\n").slice(-TAIL_CHARACTERS);
  const panic = lines.findLast((line) => PANIC.test(line))?.slice(0, TAIL_CHARACTERS);
  if (panic !== undefined && !text.includes(panic)) return [panic, LEFT_OUT, text].join("\n");
  return text === "" ? undefined : text;
}

/** The failure with the words as `serial_tail`, and a hint that quotes their end before it says what to do. */
export function withLastWords(error: HvError, words: string | undefined, advice: string): HvError {
  const { serial_tail: known } = error.context;
  const tail = typeof known === "string" ? known : words;
  return new HvError(error.code, error.message, {
    hint: tail === undefined ? advice : `${advice}. ${quote(tail)}`,
    context: { ...error.context, ...(tail === undefined ? {} : { serial_tail: tail }) },
    retryable: error.retryable,
    cause: error.cause ?? error,
  });
}

/** The reason of a panic, else the end. */
function quote(tail: string): string {
  const lines = tail.split("\n");
  const panic = lines.findLast((line) => PANIC.test(line));
  if (panic !== undefined) return `Its serial log says: ${shorten(panic)}`;
  return `Its serial log ends: ${lines.slice(-HINT_LINES).map(shorten).join(" | ")}`;
}

function shorten(line: string): string {
  const text = line.trim();
  return text.length > HINT_LINE_CHARACTERS ? `${text.slice(0, HINT_LINE_CHARACTERS)}...` : text;
}
