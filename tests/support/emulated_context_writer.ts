/** The registers of ARM64 code that works beside emulated x64 code, in the record of the processor that is emulated. */

import { DumpBytes } from "./dump_writer.ts";

/** Where the record of an x64 processor keeps the registers of ARM64 code that works beside emulated code. */
const EMULATED: readonly (readonly [number: number, offset: number])[] = [
  [8, 0x78],
  [0, 0x80],
  [1, 0x88],
  [27, 0x90],
  [29, 0xA0],
  [25, 0xA8],
  [26, 0xB0],
  [2, 0xB8],
  [3, 0xC0],
  [4, 0xC8],
  [5, 0xD0],
  [19, 0xD8],
  [20, 0xE0],
  [21, 0xE8],
  [22, 0xF0],
  [30, 0x120],
  [6, 0x130],
  [7, 0x140],
  [9, 0x150],
  [10, 0x160],
  [11, 0x170],
  [12, 0x180],
  [15, 0x190],
];

/** A record with these registers by number; it has no place for some of them. */
export function emulatedContext(
  registers: readonly bigint[],
  stackPointer: bigint,
  programCounter: bigint,
): DumpBytes {
  const context = new DumpBytes(0x4D0).u32(0x30, 0x100007);
  for (const [number, offset] of EMULATED) context.u64(offset, registers[number] ?? 0n);
  return context.u64(0x98, stackPointer).u64(0xF8, programCounter);
}
