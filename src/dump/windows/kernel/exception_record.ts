/** Exception records in memory. */

import type { VirtualMemory } from "../../memory/virtual.ts";
import type { ExceptionRecord } from "../header.ts";
import { EXCEPTION_RECORD } from "../header_layout.ts";

const MAXIMUM_PARAMETERS = 15;

/** Reads a record of the machine's width; null when it is not in the dump or cannot be one (code 0). */
export function readExceptionRecordAt(memory: VirtualMemory, address: bigint): ExceptionRecord | null {
  const layout = EXCEPTION_RECORD[memory.bits];
  const code = memory.u32(address + BigInt(layout.code.offset));
  const flags = memory.u32(address + BigInt(layout.flags.offset));
  const where = memory.pointer(address + BigInt(layout.address.offset));
  if (code === undefined || flags === undefined || where === undefined || code === 0) return null;
  const count = memory.u32(address + BigInt(layout.number_parameters.offset)) ?? 0;
  const parameters: bigint[] = [];
  const width = memory.bits / 8;
  for (let index = 0; index < Math.min(count, MAXIMUM_PARAMETERS); index++) {
    const value = memory.pointer(address + BigInt(layout.parameters.offset + index * width));
    if (value === undefined) break;
    parameters.push(value);
  }
  return { code, flags, address: where, parameters };
}
