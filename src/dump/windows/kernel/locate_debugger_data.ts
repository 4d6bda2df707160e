/** Finds the debugger data block of a dump, in whichever state it is. */

import type { VirtualMemory } from "../../memory/virtual.ts";
import { hexPointer } from "../../numbers.ts";
import type { DumpReason, DumpWarning } from "../../reasons.ts";
import type { KernelHeader } from "../header.ts";
import {
  type DebuggerData,
  decodeDebuggerData,
  type DecodingVariables,
  readDebuggerData,
} from "./debugger_data.ts";

/** The block, or why there is none. */
export interface LocatedDebuggerData {
  readonly data: DebuggerData | null;
  readonly problem: DumpReason | null;
}

/**
 * Reads the block that the header names: plain, decoded with `decoding`, or, as writers of dumps from outside do, the
 * plain copy that the first bug check argument points to. Warns `no_kdbg` or `kdbg_encoded`.
 */
export function locateDebuggerData(
  memory: VirtualMemory,
  header: KernelHeader,
  decoding: DecodingVariables | null,
  warnings: DumpWarning[],
): LocatedDebuggerData {
  const address = header.kdDebuggerDataBlock;
  if (address !== null) {
    const result = readDebuggerData(memory, address);
    if (result.found === "plain") return { data: result.data, problem: null };
    const decoded = decoding === null ? null : decodeDebuggerData(memory, address, decoding);
    if (decoded !== null) return { data: decoded, problem: null };
  }
  const copy = header.bugCheckParameters[0] ?? null;
  if (copy !== null && copy !== 0n) {
    const result = readDebuggerData(memory, copy);
    if (result.found === "plain") return { data: result.data, problem: null };
  }
  const problem = address !== null && looksEncoded(memory, address) ? "kdbg_encoded" : "no_kdbg";
  const where = address === null ? "that the header does not name" : `at ${hexPointer(address, memory.bits)}`;
  warnings.push({
    reason: problem,
    message: problem === "kdbg_encoded"
      ? `The debugger data block ${where} is scrambled; symbols of the kernel are needed to read it`
      : `The debugger data block ${where} is not in the dump, so processors, threads and unloaded drivers are not known`,
  });
  return { data: null, problem };
}

/**
 * A block begins with a list entry whose two links are equal, and scrambling keeps them equal. Only 64-bit kernels
 * scramble.
 */
function looksEncoded(memory: VirtualMemory, address: bigint): boolean {
  if (memory.bits !== 64) return false;
  const first = memory.u64(address);
  return first !== undefined && first !== 0n && first === memory.u64(address + 8n);
}
