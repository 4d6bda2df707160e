/** The registers of ARM64 code that works beside emulated x64 code, kept in the record of the processor that is emulated. */

import type { VirtualMemory } from "../memory/virtual.ts";
import { parseContext, type RegisterContext } from "./context.ts";

/** Bytes of the record that are read: up to the last x87 register. */
const SIZE = 0x1A0;
/** The x87 registers, whose lower halves hold registers that x64 has no others for. */
const X87 = { first: 0x120, stride: 0x10 } as const;

/**
 * Numbers on ARM64 of what x64's general registers stand for, by their numbers there, and of what the x87 registers
 * hold (Microsoft's page on the conventions of the ARM64EC ABI; the real debugger reads both so). Null is the stack
 * pointer.
 */
const GENERAL = [8, 0, 1, 27, null, 29, 25, 26, 2, 3, 4, 5, 19, 20, 21, 22] as const;
const IN_X87 = [30, 6, 7, 9, 10, 11, 12, 15] as const;
const REGISTERS = 31;

/**
 * Reads such a record in memory as registers of ARM64; those that it has no place for are `missing`. Null when any of it is
 * missing or it is none.
 */
export function readEmulatedContext(memory: VirtualMemory, address: bigint): RegisterContext | null {
  const bytes = memory.read(address, SIZE);
  const emulated = bytes === undefined ? null : parseContext("x64", bytes);
  if (bytes === undefined || emulated === null) return null;
  const found = new Map<number, bigint>();
  for (const [number, standsFor] of GENERAL.entries()) {
    if (standsFor !== null && !emulated.missing.includes(number)) {
      found.set(standsFor, emulated.general[number] ?? 0n);
    }
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const [index, number] of IN_X87.entries()) {
    found.set(number, view.getBigUint64(X87.first + index * X87.stride, true));
  }
  const numbers = Array.from({ length: REGISTERS }, (_, number) => number);
  return {
    ...emulated,
    machine: "arm64",
    general: numbers.map((number) => found.get(number) ?? 0n),
    // The flags are those of x64.
    processorFlags: 0,
    missing: numbers.filter((number) => !found.has(number)),
  };
}
