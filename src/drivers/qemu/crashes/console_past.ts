/** What a console printed while nobody watched it: its last panic, and whether anything came behind that. */

import { parseConsole } from "../../../dump/linux/console/parse.ts";

/** Every panic has this line, and hardly anything else has. */
export const PANIC = "Kernel panic - not syncing";
/** The last line of a panic's report, behind which a kernel that stands still prints nothing. */
const END = `end ${PANIC}`;
const PIECE_BYTES = 1024 * 1024;
/** A panic's report is printed behind its first line, and is no longer. */
const REPORT_BYTES = 64 * 1024;

/** A log that is read at offsets. */
export interface PastConsole {
  read(from: number, length: number): Uint8Array;
}

/** The last panic of a console's past. */
export interface PastPanic {
  /** What the kernel said. */
  readonly message: string;
  /** Whether the console has been silent since. A kernel that panicked and did not reboot is. */
  readonly isLast: boolean;
}

/** Looks for the last panic between two offsets; null when there is none. */
export function findPastPanic(log: PastConsole, from: number, end: number): PastPanic | null {
  const at = lastPanic(log, from, end);
  if (at === null) return null;
  const text = decode(log.read(at, Math.min(REPORT_BYTES, end - at)));
  const { panic, rebooted, boots } = parseConsole(text.split("\n"));
  if (panic === null) return null;
  const isLast = end - at <= REPORT_BYTES && !rebooted && boots === 0 && !hasMoreBehind(text);
  return { message: panic, isLast };
}

/** Offset of the line's beginning, as far as that is to be had; searched from the end, piece by piece. */
function lastPanic(log: PastConsole, from: number, end: number): number | null {
  for (let top = end; top > from; top -= PIECE_BYTES) {
    const start = Math.max(from, top - PIECE_BYTES - END.length);
    const text = decode(log.read(start, Math.min(end, top + PANIC.length - 1) - start));
    const found = lastBeginning(text);
    if (found >= 0) return start + text.lastIndexOf("\n", found) + 1;
  }
  return null;
}

/** The end of a report says the same words once more. */
function lastBeginning(text: string): number {
  let found = text.lastIndexOf(PANIC);
  while (found > 0 && text.startsWith(END, found + PANIC.length - END.length)) {
    found = text.lastIndexOf(PANIC, found - 1);
  }
  return found;
}

function hasMoreBehind(text: string): boolean {
  const end = text.indexOf(END);
  const line = end < 0 ? -1 : text.indexOf("\n", end);
  return line >= 0 && text.slice(line).trim() !== "";
}

/** One character for each byte, so that places in the text are places in the log. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
