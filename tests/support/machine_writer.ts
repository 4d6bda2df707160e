/**
 * Builds machines for tests: what a kernel keeps in memory, over the pages of `machine_memory.ts`. It has offsets of
 * its own and shares nothing with the readers.
 */

import { DumpBytes } from "./dump_writer.ts";
import { MachineMemory, type WrittenPaging } from "./machine_memory.ts";

/** Where the written kernel keeps things, by width. Addresses of the headers of `dump_writer.ts`. */
export const PLACES = {
  64: {
    kernel: 0xFFFFF80010000000n,
    driver: 0xFFFFF80020000000n,
    data: 0xFFFFF80010003000n,
    list: 0xFFFFF80010003380n,
    pool: 0xFFFFA00000000000n,
    stack: 0xFFFFD00012340000n,
    shared: 0xFFFFF78000000000n,
  },
  32: {
    kernel: 0x80400000n,
    driver: 0xF7A00000n,
    data: 0x80403000n,
    list: 0x80403340n,
    pool: 0x85000000n,
    stack: 0x8B002000n,
    shared: 0xFFDF0000n,
  },
} as const;

/** Offsets that the written debugger data names; no real kernel has these. */
export const MEMBERS = {
  prcb: {
    currentThread: 0x18,
    number: 0x2C,
    mhz: 0x30,
    vendor: 0x40,
    context: 0x58,
    special: 0x100,
    size: 0x400,
  },
  thread: { process: 0x48, teb: 0x50, stackLimit: 0x58, stackBase: 0x60, size: 0x500 },
  process: { directoryTableBase: 0x38, peb: 0x3F0, size: 0x600 },
} as const;

/** Offsets inside the pool. */
const POOL = {
  process: 0x1000n,
  threads: [0x2000n, 0x3000n],
  prcbs: [0x4000n, 0x4800n],
  contexts: [0x5000n, 0x5800n],
  entries: 0x6000n,
  names: 0x7000n,
  unloaded: 0x8000n,
} as const;

/** Address of something in the pool. */
export function inPool(bits: 32 | 64, offset: bigint): bigint {
  return PLACES[bits].pool + offset;
}

/** Addresses of the structures of the written machine. */
export function poolAddresses(bits: 32 | 64): {
  process: bigint;
  threads: bigint[];
  prcbs: bigint[];
  contexts: bigint[];
} {
  return {
    process: inPool(bits, POOL.process),
    threads: POOL.threads.map((offset) => inPool(bits, offset)),
    prcbs: POOL.prcbs.map((offset) => inPool(bits, offset)),
    contexts: POOL.contexts.map((offset) => inPool(bits, offset)),
  };
}

/** What is said of one driver of the written machine. */
export interface WrittenDriver {
  name: string;
  base: bigint;
  size: number;
  timeDateStamp: number;
  checkSum: number;
}

/** The two drivers of the written machine. */
export function writtenDrivers(bits: 32 | 64): WrittenDriver[] {
  return [
    {
      name: "ntoskrnl.exe",
      base: PLACES[bits].kernel,
      size: 0x5000,
      timeDateStamp: 0x11223344,
      checkSum: 0x4711,
    },
    {
      name: "evil.sys",
      base: PLACES[bits].driver,
      size: 0x3000,
      timeDateStamp: 0x55667788,
      checkSum: 0x4712,
    },
  ];
}

/** A machine with two processors that crashed on the second one. */
export function writeMachine(paging: WrittenPaging): MachineMemory {
  const memory = new MachineMemory(paging);
  const { bits } = memory;
  const places = PLACES[bits];
  memory.put(places.shared, new DumpBytes(0x720).bytes);
  writeDebuggerData(memory);
  writeModules(memory);
  writeProcessors(memory);
  const stack = new DumpBytes(0x2000, "stack!");
  memory.put(places.stack + (bits === 64 ? 0x2000n : 0n), stack.bytes);
  return memory;
}

function writeDebuggerData(memory: MachineMemory): void {
  const { bits } = memory;
  const { data, list, kernel } = PLACES[bits];
  const wide = (value: bigint) => BigInt.asUintN(64, bits === 32 ? BigInt.asIntN(32, value) : value);
  const levels = { "x64": 4, "x64-5level": 5, "x86-pae": 0, "x86": 0, "arm64": 4 }[memory.paging];
  const { prcb, thread, process } = MEMBERS;
  // In 32-bit machines the list of modules begins right behind the block, which is as short as that of Windows 7.
  const size = bits === 64 ? 0x380 : 0x340;
  const block = new DumpBytes(size)
    .u64(0, wide(data), wide(data))
    .text(0x10, "KDBG")
    .u32(0x14, size)
    .u64(0x18, wide(kernel))
    .u16(0x36, (memory.paging === "x86-pae" ? 1 : 0) | (levels << 2))
    .u64(0x48, wide(list))
    .u64(0x50, wide(list + 16n))
    .u64(0x88, wide(data + 0x5A0n))
    .u64(0x208, wide(data + 0x5D0n))
    .u64(0x218, wide(data + 0x3A0n + 0x40n))
    .u64(0x220, wide(data + 0x650n), wide(data + 0x658n))
    .u16(0x29A, thread.teb)
    .u16(0x2A0, thread.process)
    .u16(0x2A8, process.size, process.peb)
    .u16(0x2AE, process.directoryTableBase, prcb.size)
    .u16(0x2B4, prcb.currentThread, prcb.mhz)
    .u16(0x2BA, prcb.vendor)
    .u16(0x2BE, prcb.number, thread.size)
    .u16(0x2F2, prcb.special)
    .u16(0x338, prcb.context);
  if (bits === 64) block.u32(0x340, thread.stackLimit, thread.stackBase);
  memory.put(data, block.bytes);
  const crash = bits === 64
    ? [0xD1n, 0xFFFFA00000DEADB0n, 2n, 0n, 0xFFFFF800200010ECn]
    : [0xD1n, 0x10n, 2n, 1n, 0xF7A01009n];
  memory.put(data + 0x5A0n, pointers(bits, crash));
  memory.put(data + 0x5D0n, new DumpBytes(48).text(0, "19041.1.test.made").bytes);
  memory.put(data + 0x650n, pointers(bits, [inPool(bits, POOL.unloaded)]));
  memory.put(data + 0x658n, new DumpBytes(4).u32(0, 2).bytes);
  writeUnloaded(memory);
}

function writeUnloaded(memory: MachineMemory): void {
  const { bits } = memory;
  const ring = inPool(bits, POOL.unloaded);
  const names = ring + 0x900n;
  const size = bits === 64 ? 0x28 : 0x18;
  ["old.sys", "gone.sys"].forEach((name, index) => {
    const start = PLACES[bits].driver + BigInt(0x100000 * (index + 1));
    const text = names + BigInt(index * 0x40);
    memory.put(text, new DumpBytes(name.length * 2).wide(0, name).bytes);
    const entry = new DumpBytes(size).u16(0, name.length * 2, name.length * 2);
    entry.bytes.set(pointers(bits, [text, start, start + 0x8000n]), bits === 64 ? 8 : 4);
    memory.put(ring + BigInt(index * size), entry.bytes);
  });
}

function writeModules(memory: MachineMemory): void {
  const { bits } = memory;
  const { list } = PLACES[bits];
  const entries = inPool(bits, POOL.entries);
  const drivers = writtenDrivers(bits);
  const links = [list, ...drivers.map((_, index) => entries + BigInt(index * 0x200))];
  drivers.forEach((driver, index) => {
    const at = links[index + 1] ?? 0n;
    const path = `\\SystemRoot\\system32\\${driver.name}`;
    const text = inPool(bits, POOL.names) + BigInt(index * 0x100);
    memory.put(text, new DumpBytes(path.length * 2).wide(0, path).bytes);
    const nameAt = text + BigInt((path.length - driver.name.length) * 2);
    const next = links[(index + 2) % links.length] ?? 0n;
    const entry = new DumpBytes(0xA0);
    entry.bytes.set(pointers(bits, [next, links[index] ?? 0n]), 0);
    entry.bytes.set(pointers(bits, [driver.base]), bits === 64 ? 0x30 : 0x18);
    entry.u32(bits === 64 ? 0x40 : 0x20, driver.size);
    entry.bytes.set(counted(bits, path, text), bits === 64 ? 0x48 : 0x24);
    entry.bytes.set(counted(bits, driver.name, nameAt), bits === 64 ? 0x58 : 0x2C);
    entry.u32(bits === 64 ? 0x78 : 0x40, driver.checkSum);
    if (bits === 64) entry.u32(0x98, driver.size);
    entry.u32(bits === 64 ? 0x9C : 0x58, driver.timeDateStamp);
    memory.put(at, entry.bytes);
  });
  memory.put(list, pointers(bits, [links[1] ?? 0n, links.at(-1) ?? 0n]));
}

function writeProcessors(memory: MachineMemory): void {
  const { bits } = memory;
  const { data, stack } = PLACES[bits];
  const { process, threads, prcbs, contexts } = poolAddresses(bits);
  memory.put(data + 0x3E0n, pointers(bits, prcbs));
  prcbs.forEach((prcb, index) => {
    const block = new DumpBytes(MEMBERS.prcb.size)
      .u32(MEMBERS.prcb.number, index)
      .u32(MEMBERS.prcb.mhz, 3000 + index)
      .text(MEMBERS.prcb.vendor, "TestedByHand");
    block.bytes.set(pointers(bits, [threads[index] ?? 0n]), MEMBERS.prcb.currentThread);
    block.bytes.set(pointers(bits, [contexts[index] ?? 0n]), MEMBERS.prcb.context);
    memory.put(prcb, block.bytes);
    memory.put(contexts[index] ?? 0n, writtenContext(memory.paging, index));
    const limit = index === 1 ? stack : stack + 0x100000n;
    const thread = new DumpBytes(MEMBERS.thread.size);
    thread.bytes.set(pointers(bits, [process]), MEMBERS.thread.process);
    thread.bytes.set(pointers(bits, [limit]), MEMBERS.thread.stackLimit);
    thread.bytes.set(pointers(bits, [limit + 0x6000n]), MEMBERS.thread.stackBase);
    if (bits === 64) thread.u64(memory.paging === "arm64" ? 0x4E8 : 0x478, 4n, BigInt(0x100 + 4 * index));
    memory.put(threads[index] ?? 0n, thread.bytes);
  });
  const block = new DumpBytes(MEMBERS.process.size);
  block.bytes.set(pointers(bits, [memory.directoryTableBase]), MEMBERS.process.directoryTableBase);
  if (memory.paging === "arm64") block.u64(0x3F8, 4n).text(0x560, "System");
  else if (bits === 64) block.u64(0x440, 4n).text(0x5A8, "System");
  else block.u32(0xB4, 4).text(0x16C, "System");
  memory.put(process, block.bytes);
}

/** The program counter and stack pointer of a written processor; the second one's are those of the header. */
export function writtenCounters(
  bits: 32 | 64,
  processor: number,
): { programCounter: bigint; stackPointer: bigint } {
  const crashed = bits === 64
    ? { programCounter: 0xFFFFF800100010A4n, stackPointer: 0xFFFFD00012343718n }
    : { programCounter: 0xF7A01009n, stackPointer: 0x8B002F54n };
  if (processor === 1) return crashed;
  return { programCounter: PLACES[bits].kernel + 0x1090n, stackPointer: PLACES[bits].stack + 0x101000n };
}

/** A context of the machine's processor; general register number n holds 0x1000 + n. */
export function writtenContext(paging: WrittenPaging, processor: number): Uint8Array {
  const bits = paging === "x86" || paging === "x86-pae" ? 32 : 64;
  const { programCounter, stackPointer } = writtenCounters(bits, processor);
  if (paging === "arm64") {
    const context = new DumpBytes(0x390).u32(0, 0x400007, 0x80000000);
    for (let number = 0; number < 31; number++) context.u64(8 + 8 * number, BigInt(0x1000 + number));
    return context.u64(0x100, stackPointer, programCounter).bytes;
  }
  if (bits === 64) {
    const context = new DumpBytes(0x4D0).u32(0x30, 0x10001F).u32(0x44, 0x246);
    for (let number = 0; number < 16; number++) context.u64(0x78 + 8 * number, BigInt(0x1000 + number));
    return context.u64(0x98, stackPointer).u64(0xF8, programCounter).bytes;
  }
  const order = [7, 6, 3, 2, 1, 0, 5];
  const context = new DumpBytes(0x2CC).u32(0, 0x1001F);
  order.forEach((number, index) => context.u32(0x9C + 4 * index, 0x1000 + number));
  return context
    .u32(0xB8, Number(programCounter), 8, 0x246, Number(stackPointer)).bytes;
}

function counted(bits: 32 | 64, text: string, buffer: bigint): Uint8Array {
  const head = new DumpBytes(bits === 64 ? 16 : 8).u16(0, text.length * 2, text.length * 2);
  head.bytes.set(pointers(bits, [buffer]), bits === 64 ? 8 : 4);
  return head.bytes;
}

/** Addresses one after the other in the machine's width. */
export function pointers(bits: 32 | 64, values: readonly bigint[]): Uint8Array {
  const bytes = new DumpBytes(values.length * bits / 8);
  if (bits === 64) bytes.u64(0, ...values);
  else bytes.u32(0, ...values.map((value) => Number(BigInt.asUintN(32, value))));
  return bytes.bytes;
}
