/** A file that is no dump and may be the text of a console. */

import { HvError } from "../../base/errors.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import type { ByteSource } from "../../dump/bytes.ts";
import { decodeConsole, looksLikeText } from "../../dump/linux/console/text.ts";

const HEAD_BYTES = 8192;
/** Of a larger file only the end is read: there is what happened last. */
const LARGEST_TEXT = 64 * 1024 * 1024;
/** What an inspection says of text. */
const REASONS: ReadonlySet<unknown> = new Set(["bad_signature", "too_short"]);

/** A console text and what is missing of it. */
export interface ConsoleText {
  readonly text: string;
  readonly warnings: DumpTriage["warnings"];
}

/** Whether an inspection failed as it does for text. */
export function maybeText(failure: unknown): boolean {
  return failure instanceof HvError && failure.code === "hv.bad_dump" &&
    REASONS.has(failure.context["reason"]);
}

/** Reads the text; null when the file holds none. */
export function readConsoleText(file: ByteSource): ConsoleText | null {
  if (!looksLikeText(file.read(0, HEAD_BYTES))) return null;
  const start = Math.max(0, file.size - LARGEST_TEXT);
  return {
    text: decodeConsole(file.read(start, file.size - start)),
    warnings: start === 0 ? [] : [{
      reason: "read_limit",
      message: `Only the last ${LARGEST_TEXT} of ${file.size} bytes were read`,
      expected: file.size,
      actual: LARGEST_TEXT,
    }],
  };
}
