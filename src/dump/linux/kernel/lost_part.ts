/** Parts of a kernel's memory that may be damaged or absent: each costs only itself. */

import { HvError } from "../../../base/errors.ts";
import type { DumpReason, DumpWarning } from "../../reasons.ts";

const REASONS: ReadonlySet<string> = new Set(
  [
    "missing_memory",
    "vmcoreinfo",
    "kernel_log",
    "kallsyms",
    "btf",
    "orc",
    "kernel_list",
    "read_limit",
    "truncated",
  ] satisfies DumpReason[],
);

/**
 * Reads a part. A `hv.bad_dump` that this throws becomes a warning and gives null; every other failure passes through.
 */
export function lostPart<Part>(warnings: DumpWarning[], read: () => Part): Part | null {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof HvError) || thrown.code !== "hv.bad_dump") throw thrown;
    const { reason } = thrown.context;
    warnings.push({ reason: isReason(reason) ? reason : "missing_memory", message: thrown.message });
    return null;
  }
}

function isReason(reason: unknown): reason is DumpReason {
  return typeof reason === "string" && REASONS.has(reason);
}
