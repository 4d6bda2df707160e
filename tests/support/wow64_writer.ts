/** Writes a dump of a process of 64-bit Windows that runs 32-bit code. Offsets of its own, as in `dump_writer.ts`. */

import { DumpBytes } from "./dump_writer.ts";
import { MinidumpWriter, type WrittenThread } from "./minidump_writer.ts";

/** What a thread's 32-bit side is like. */
export type Wow64Side =
  /** In 64-bit code that 32-bit code called. */
  | "called"
  /** Its environment block is not in the dump. */
  | "lost"
  /** The place of its registers holds none. */
  | "empty"
  /** In 32-bit code. */
  | "inside";

/** Where 64-bit code stands, and the code of the 32-bit stack from the innermost function on. */
const PLACES = {
  layer: 0x7FFA_1000_2345n,
  frames: [0x7710_1234, 0x1000_2222, 0x40_1111],
} as const;

const STACKS = 0x20_0000;
const BLOCKS = 0x30_0000;
const AREAS = 0x40_0000;
const SPACING = 0x1_0000;
const MODULES: readonly (readonly [base: bigint, name: string])[] = [
  [0x40_0000n, "C:\\app\\app.exe"],
  [0x7FFA_2000_0000n, "C:\\Windows\\System32\\ntdll.dll"],
  [0x7FFA_1000_0000n, "C:\\Windows\\System32\\wow64.dll"],
  [0x7710_0000n, "C:\\Windows\\SysWOW64\\ntdll.dll"],
  [0x1000_0000n, "C:\\app\\plugin.dll"],
];

/** The dump; threads are numbered from 1 on, and the exception is the first one's. */
export function writeWow64(
  sides: readonly Wow64Side[],
  options: { withoutLayer?: boolean; exception?: boolean } = {},
): Uint8Array<ArrayBuffer> {
  const memory: [bigint, Uint8Array][] = [];
  const threads = sides.map((side, index): WrittenThread => {
    const stack = STACKS + index * SPACING;
    const block = BLOCKS + index * SPACING;
    const area = AREAS + index * SPACING;
    const [, caller, outermost] = PLACES.frames;
    const words = new DumpBytes(0x100).u32(0x20, stack + 0x40, caller).u32(0x40, stack + 0x60, outermost);
    memory.push([BigInt(stack), words.bytes]);
    if (side !== "lost") memory.push([BigInt(block), new DumpBytes(0x1A00).u64(0x1488, BigInt(area)).bytes]);
    const registers = new DumpBytes(4 + 0x2CC).u16(0, 0, 0x14C);
    if (side !== "empty") {
      registers.u32(4, 0x1_000F).u32(
        4 + 0xB4,
        stack + 0x20,
        PLACES.frames[0],
        0x23,
        0x246,
        stack + 0x10,
      );
    }
    memory.push([BigInt(area), registers.bytes]);
    return { id: index + 1, teb: BigInt(block), context: side === "inside" ? within(stack) : outside() };
  });
  const writer = new MinidumpWriter().system(9)
    .modules(
      MODULES.filter(([, name]) => options.withoutLayer !== true || !name.includes("wow64"))
        .map(([base, name]) => ({ base, size: 0x1_0000, name })),
    )
    .threads(threads)
    .memory(memory);
  const context = threads[0]?.context;
  if (options.exception === true && context !== undefined) {
    const address = sides[0] === "inside" ? BigInt(PLACES.frames[0]) : PLACES.layer;
    writer.exception(1, 0xC000_0005, address, context);
  }
  return writer.finish();
}

/** A context in 64-bit code. */
function outside(): Uint8Array {
  return new DumpBytes(0x4D0).u32(0x30, 0x10_000F).u16(0x38, 0x33).u64(0x98, 0x50_0000n)
    .u64(0xF8, PLACES.layer).bytes;
}

/** A context of the same size in 32-bit code, whose upper halves are left over from 64-bit code. */
function within(stack: number): Uint8Array {
  const upper = 0xABCD_0000_0000n;
  return new DumpBytes(0x4D0).u32(0x30, 0x10_000F).u16(0x38, 0x23)
    .u64(0x98, BigInt(stack + 0x10), BigInt(stack + 0x20), upper + 0x51n, upper + 0xD1n)
    .u64(0xF8, BigInt(PLACES.frames[0])).bytes;
}
