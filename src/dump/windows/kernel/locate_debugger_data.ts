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
import { walkLoadedModules } from "./loaded_modules.ts";

/** The block, or why there is none. */
export interface LocatedDebuggerData {
  readonly data: DebuggerData | null;
  readonly problem: DumpReason | null;
}

/**
 * Reads the block that the header names: plain, decoded with `decoding`, or, as writers of dumps from outside do, the
 * plain copy that the first bug check argument points to. A block that the header names wrongly is searched for in the
 * image of the kernel. Warns `no_kdbg` or `kdbg_encoded`.
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
  const encoded = address !== null && looksEncoded(memory, address);
  const found = encoded ? null : searchKernel(memory, header, warnings);
  if (found !== null) return { data: found, problem: null };
  const problem = encoded ? "kdbg_encoded" : "no_kdbg";
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

/** `KDBG`, as four bytes. */
const TAG = [0x4B, 0x44, 0x42, 0x47] as const;
const TAG_OFFSET = 0x10n;
/** Kernels are smaller than this; their data is read in pieces. */
const SEARCHED_BYTES = 32 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/** Searches the kernel's image for a block that says it belongs there. Warns with where it was found. */
function searchKernel(
  memory: VirtualMemory,
  header: KernelHeader,
  warnings: DumpWarning[],
): DebuggerData | null {
  const head = header.psLoadedModuleList;
  const [kernel] = head === null ? [] : walkLoadedModules(memory, head, null, []).all;
  if (kernel === undefined) return null;
  for (let done = 0; done < Math.min(kernel.size, SEARCHED_BYTES); done += PIECE_BYTES) {
    const wanted = Math.min(PIECE_BYTES, kernel.size - done);
    for (const part of memory.readParts(kernel.base + BigInt(done), wanted)) {
      if (part.bytes === null) continue;
      for (const at of tagsIn(part.bytes)) {
        const result = readDebuggerData(memory, part.address + BigInt(at) - TAG_OFFSET);
        if (result.found !== "plain" || result.data.variable("kernel_base") !== kernel.base) continue;
        const { address } = result.data;
        warnings.push({
          reason: "no_kdbg",
          message: `The header does not lead to the debugger data block; it was found at ${
            hexPointer(address, memory.bits)
          } in the kernel's image`,
        });
        return result.data;
      }
    }
  }
  return null;
}

/** Positions of the tag. */
function tagsIn(bytes: Uint8Array): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(TAG[0]); at >= 0; at = bytes.indexOf(TAG[0], at + 1)) {
    if (TAG.every((byte, index) => bytes[at + index] === byte)) found.push(at);
  }
  return found;
}
