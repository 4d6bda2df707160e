/** The words that say what is wrong with a dump, and the one way to fail with them. */

import { HvError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";

/** Why a file was refused, or what a warning is about. Stands in `context.reason` of `hv.bad_dump`. */
export type DumpReason =
  | "empty"
  | "too_short"
  | "bad_signature"
  | "not_a_dump"
  | "byte_swapped"
  | "being_written"
  | "truncated"
  | "read_limit"
  | "run_count"
  | "run_overflow"
  | "run_overlap"
  | "bitmap_size"
  | "page_count_mismatch"
  | "body_unusable"
  | "body_offset"
  | "encrypted"
  | "unsupported_kind"
  | "kind_mismatch"
  | "bad_dtb"
  | "no_kdbg"
  | "kdbg_encoded"
  | "list_loop"
  | "list_cut"
  | "list_count"
  | "bad_machine"
  | "bad_time"
  | "sparse_zero_pages"
  | "triage_marker"
  | "triage_part"
  | "secondary_data"
  | "stream_count"
  | "stream_directory"
  | "stream_damaged"
  | "stream_repeated"
  | "stream_missing"
  | "header_damaged"
  | "missing_memory"
  | "vmcoreinfo"
  | "kernel_log"
  | "kallsyms"
  | "btf"
  | "orc"
  | "kernel_list";

/** Something wrong or contradictory that did not keep the header from being read. */
export interface DumpWarning {
  reason: DumpReason;
  /** One sentence without a full stop, with the values found and wanted. */
  message: string;
  /** File offset of the field or part that is wrong. */
  offset?: number;
  /** Size or count that the file claims; hexadecimal text above 2^53. */
  expected?: number | string;
  /** Size or count that is there. */
  actual?: number | string;
}

/** The failure for a file that cannot be read as a dump; `facts` go into the context beside the reason. */
export function badDump(
  reason: DumpReason,
  message: string,
  facts: JsonObject = {},
  hint = "Check that the file was copied completely and is a crash dump",
): HvError {
  return new HvError("hv.bad_dump", message, { hint, context: { reason, ...facts } });
}

/**
 * Reads a part that may be damaged. A `hv.bad_dump` that this throws becomes a warning and gives null, so that
 * the header is still reported; every other failure passes through.
 */
export function readPart<Part>(warnings: DumpWarning[], read: () => Part): Part | null {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof HvError) || thrown.code !== "hv.bad_dump") throw thrown;
    const { offset, reason } = thrown.context;
    warnings.push({
      reason: reason === "header_damaged" || reason === "read_limit" ? reason : "truncated",
      message: thrown.message,
      ...(typeof offset === "number" ? { offset } : {}),
    });
    return null;
  }
}
