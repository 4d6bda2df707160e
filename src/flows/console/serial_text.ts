/** Reading a serial log: by offsets, and for a text that is waited for. */

import type { SerialLog } from "../../drivers/console_abilities.ts";
import type { LineFinder } from "./line_finder.ts";

/** Read at once while a whole log is looked through. */
const BLOCK_BYTES = 1024 * 1024;
/** A line that is longer is looked through in parts. */
const LINE_LIMIT_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** A part of a log. */
export interface SerialPart {
  text: string;
  offset: number;
  next_offset: number;
  size_bytes: number;
  truncated?: true;
  dropped_bytes?: number;
}

/** Reads at most `limit` bytes, from `offset` or, without it, the last ones. Characters are never cut in two. */
export function readPart(log: SerialLog, offset: number | undefined, limit: number): SerialPart {
  const wanted = offset ?? Math.max(0, log.size - limit);
  const start = Math.min(Math.max(wanted, log.kept_from), log.size);
  const bytes = log.read(start, limit);
  const whole = bytes.subarray(0, bytes.length - brokenTail(bytes));
  const used = whole.length === 0 ? bytes : whole;
  const next = start + used.length;
  const dropped = offset === undefined ? 0 : Math.max(0, Math.min(log.kept_from, log.size) - offset);
  return {
    text: new TextDecoder().decode(used),
    offset: start,
    next_offset: next,
    size_bytes: log.size,
    ...(start + bytes.length < log.size ? { truncated: true } : {}),
    ...(dropped > 0 ? { dropped_bytes: dropped } : {}),
  };
}

/** How many bytes at the end begin a character of UTF-8 and do not end it. */
function brokenTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < lengthOfCharacter(byte) ? back : 0;
  }
  return 0;
}

function lengthOfCharacter(first: number): number {
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

/** Where in a log stands what was looked for. */
export interface Found {
  offset: number;
  line: string;
}

/** Looks for something in a log that grows; what was looked through once is not looked through again. */
export class SerialSearch {
  /** Whether it is at work: what it has not come to may be what is looked for. */
  isLooking = false;
  readonly #finder: LineFinder;
  #next: number;

  constructor(finder: LineFinder, from: number) {
    this.#finder = finder;
    this.#next = from;
  }

  /** Looks through what is new; the last line counts although it may go on, since a prompt has no end. */
  async look(log: SerialLog, signal: AbortSignal): Promise<Found | undefined> {
    this.isLooking = true;
    const found = await this.#look(log, signal);
    this.isLooking = false;
    return found;
  }

  async #look(log: SerialLog, signal: AbortSignal): Promise<Found | undefined> {
    // A guest that was started anew writes a new log.
    if (log.size < this.#next) this.#next = 0;
    this.#next = Math.max(this.#next, log.kept_from);
    while (this.#next < log.size) {
      const bytes = log.read(this.#next, BLOCK_BYTES);
      if (bytes.length === 0) return undefined;
      const isLast = this.#next + bytes.length >= log.size;
      const { lines, used } = cutIntoLines(bytes, isLast);
      const hit = await this.#finder.find(lines.map(({ text }) => text), signal);
      const line = hit === undefined ? undefined : lines[hit.line];
      if (hit !== undefined && line !== undefined) {
        const before = new TextEncoder().encode(line.text.slice(0, hit.at)).length;
        return { offset: this.#next + line.start + before, line: line.text.trim() };
      }
      this.#next += used;
      if (isLast) return undefined;
    }
    return undefined;
  }
}

/** The lines of a block that can be looked through, and how much of it need not be looked through again. */
function cutIntoLines(
  bytes: Uint8Array,
  isLast: boolean,
): { lines: { start: number; text: string }[]; used: number } {
  const lines: { start: number; text: string }[] = [];
  const decoder = new TextDecoder();
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const limit = start + LINE_LIMIT_BYTES;
    const isOpen = newline < 0 && bytes.length < limit;
    // An unfinished line is looked through now and, should it go on, once more.
    if (isOpen && !isLast) return { lines, used: start };
    const end = newline < 0 || newline > limit ? Math.min(limit, bytes.length) : newline;
    lines.push({ start, text: decoder.decode(bytes.subarray(start, end)) });
    if (isOpen) return { lines, used: start };
    start = end === newline ? end + 1 : end;
  }
  return { lines, used: bytes.length };
}
