/** Writes a machine of `machine_writer.ts` into every kind of dump. Offsets of its own, as in `dump_writer.ts`. */

import { DumpBytes, joinBytes, kernelHeader32, kernelHeader64 } from "./dump_writer.ts";
import type { MachineMemory } from "./machine_memory.ts";
import {
  MEMBERS,
  PLACES,
  poolAddresses,
  writtenContext,
  type WrittenDriver,
  writtenDrivers,
} from "./machine_writer.ts";

/** Kinds of dumps that hold pages. */
export type PageContainer = "full" | "fdmp" | "sdmp" | "summary" | "rdmp8" | "rdmp9" | "rdmpa";

/** All of them; 32-bit machines are only written as `full` and `summary`. */
export const PAGE_CONTAINERS: readonly PageContainer[] = [
  "full",
  "fdmp",
  "sdmp",
  "summary",
  "rdmp8",
  "rdmp9",
  "rdmpa",
];

const DUMP_TYPES: Readonly<Record<PageContainer, number>> = {
  full: 1,
  summary: 2,
  fdmp: 5,
  sdmp: 6,
  rdmp8: 8,
  rdmp9: 9,
  rdmpa: 0xA,
};

/** Header of a machine's dump: its page table, processors, and the context of the processor that crashed. */
export function machineHeader(memory: MachineMemory, dumpType: number): DumpBytes {
  if (memory.bits === 32) {
    const header = kernelHeader32(dumpType).u32(0x10, Number(memory.directoryTableBase)).u32(0x24, 2);
    header.u8(0x5C, memory.paging === "x86-pae" ? 1 : 0);
    header.bytes.set(writtenContext(memory.paging, 1), 0x320);
    return header;
  }
  const header = kernelHeader64(dumpType).u64(0x10, memory.directoryTableBase);
  if (memory.paging === "arm64") header.u32(0x0C, 22000).u32(0x30, 0xAA64);
  header.bytes.set(writtenContext(memory.paging, 1), 0x348);
  return header;
}

/** The machine's pages in a container. */
export function dumpMachine(memory: MachineMemory, container: PageContainer): Uint8Array<ArrayBuffer> {
  const header = machineHeader(memory, DUMP_TYPES[container]);
  const runs = memory.runs();
  const total = runs.reduce((sum, [, count]) => sum + count, 0n);
  const body = memory.body();
  if (container === "full" || container === "summary") {
    // A summary has its bitmap, and debuggers still want the runs.
    if (memory.bits === 32) header.u32(0x64, runs.length, Number(total), ...runs.flat().map(Number));
    else header.u32(0x88, runs.length).u64(0x90, total).u64(0x98, ...runs.flat());
    return container === "full" ? complete(header, body) : complete(header, summaryHead(memory, total), body);
  }
  if (container === "fdmp" || container === "sdmp") {
    return complete(header, bitmapHead(memory, container, total), body);
  }
  const list = new DumpBytes(0x30 + runs.length * 16)
    .u32(0, 0x40)
    .text(4, "RDMPDUMP")
    .u64(0x10, BigInt(0x10 + runs.length * 16), BigInt(0x2000 + 0x30 + runs.length * 16))
    .u32(0x20, runs.length)
    .u64(0x28, total)
    .u64(0x30, ...runs.flat());
  return complete(header, list.bytes, body);
}

/** Sets the size that the header claims, which is exact for pages. */
function complete(header: DumpBytes, ...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const size = parts.reduce((sum, { length }) => sum + length, header.bytes.length);
  header.u64(0xFA0, BigInt(size));
  return joinBytes(header.bytes, ...parts);
}

function bitmapOf(memory: MachineMemory): { bits: number; bytes: Uint8Array } {
  const bits = Math.max(...memory.pages.keys()) + 1;
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (const frame of memory.pages.keys()) {
    bytes[frame >>> 3] = (bytes[frame >>> 3] ?? 0) | (1 << (frame & 7));
  }
  return { bits, bytes };
}

function bitmapHead(memory: MachineMemory, container: "fdmp" | "sdmp", total: bigint): Uint8Array {
  const { bits, bytes } = bitmapOf(memory);
  const head = new DumpBytes(0x38 + bytes.length)
    .text(0, `${container.toUpperCase()}DUMP`)
    .u64(0x20, BigInt(0x2038 + bytes.length), total, BigInt(bits));
  head.bytes.set(bytes, 0x38);
  return head.bytes;
}

function summaryHead(memory: MachineMemory, total: bigint): Uint8Array {
  const { bits, bytes } = bitmapOf(memory);
  const start = memory.bits === 64 ? 0x28 : 0x20;
  const header = memory.bits === 64 ? 0x2000 : 0x1000;
  const head = new DumpBytes(start + bytes.length)
    .text(0, "SDMPDUMP")
    .u32(0x0C, header + start + bytes.length, bits, Number(total), bits);
  head.bytes.set(bytes, start);
  return head.bytes;
}

/** A piece of memory that a small dump keeps. */
export type CapturedBlock = [address: bigint, bytes: Uint8Array];

/** What a small dump of the written machine keeps beside its parts. */
export interface SmallDumpOptions {
  blocks?: CapturedBlock[];
  /** Bits of MiniDumpFields. */
  parts?: number;
}

/** A small memory dump of a 64-bit machine, with copies of the crashed processor's structures. */
export function smallDump(memory: MachineMemory, options: SmallDumpOptions = {}): DumpBytes {
  const { data, stack } = PLACES[64];
  const { process, threads, prcbs, contexts } = poolAddresses(64);
  const file = new FileParts(machineHeader(memory, 4).u32(0x1038, options.parts ?? 0xCFF), 0x2080);
  const copy = (address: bigint, size: number) => file.add(readBack(memory, address, size));
  const prcb = copy(prcbs[1] ?? 0n, MEMBERS.prcb.size);
  const processAt = copy(process, MEMBERS.process.size);
  const thread = copy(threads[1] ?? 0n, MEMBERS.thread.size);
  const top = stack + 0x3718n;
  const callStack = copy(top, 0x8E8);
  const debuggerData = copy(data, 0x380);
  const names = writtenDrivers(64).map(({ name }) => file.add(countedName(`\\SystemRoot\\${name}`)));
  const drivers = file.add(
    joinBytes(...writtenDrivers(64).map((each, index) => driverEntry(each, names[index] ?? 0))),
  );
  const unloaded = file.add(unloadedList());
  const blocks: CapturedBlock[] = [
    [data + 0x3E0n, readBack(memory, data + 0x3E0n, 16)],
    ...prcbs.map((address): CapturedBlock => [address, readBack(memory, address, MEMBERS.prcb.size)]),
    ...contexts.map((address): CapturedBlock => [
      address,
      readBack(memory, address, memory.paging === "arm64" ? 0x390 : 0x4D0),
    ]),
    [threads[0] ?? 0n, readBack(memory, threads[0] ?? 0n, MEMBERS.thread.size)],
    [PLACES[64].shared, readBack(memory, PLACES[64].shared, 0x720)],
    [data + 0x5A0n, readBack(memory, data + 0x5A0n, 40)],
    [data + 0x5D0n, readBack(memory, data + 0x5D0n, 48)],
    ...options.blocks ?? [],
  ];
  const rows = blocks.map(([address, bytes]) =>
    new DumpBytes(16).u64(0, address).u32(8, file.add(bytes), bytes.length).bytes
  );
  const list = file.add(joinBytes(...rows));
  const end = file.add(new DumpBytes(4).text(0, "TRGD").bytes);
  return file.finish()
    .u32(0x2000, 0, end + 4, end, 0x348, 0xF00, 0, unloaded, prcb, processAt, thread, callStack, 0x8E8)
    .u32(0x2030, drivers, names.length, names[0] ?? 0, drivers - (names[0] ?? 0))
    .u64(0x2048, top)
    .u32(0x2070, debuggerData, 0x380, list, blocks.length);
}

/** Parts of a file one after the other, each at a multiple of eight. */
class FileParts {
  readonly #parts: Uint8Array[];
  #size: number;

  constructor(header: DumpBytes, size: number) {
    this.#parts = [header.bytes, new Uint8Array(size - header.bytes.length)];
    this.#size = size;
  }

  add(bytes: Uint8Array): number {
    const at = this.#size;
    const padding = (8 - bytes.length % 8) % 8;
    this.#parts.push(bytes, new Uint8Array(padding));
    this.#size += bytes.length + padding;
    return at;
  }

  finish(): DumpBytes {
    const file = new DumpBytes(this.#size);
    file.bytes.set(joinBytes(...this.#parts));
    return file;
  }
}

/** Bytes that were put at a virtual address before. */
export function readBack(memory: MachineMemory, address: bigint, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let done = 0; done < size;) {
    const at = address + BigInt(done);
    const inside = Number(at & 0xFFFn);
    const piece = memory.page(memory.frameFor(at)).bytes.subarray(inside, inside + size - done);
    bytes.set(piece, done);
    done += piece.length;
  }
  return bytes;
}

function countedName(name: string): Uint8Array {
  return new DumpBytes(4 + name.length * 2 + 2).u32(0, name.length).wide(4, name).bytes;
}

function driverEntry(driver: WrittenDriver, name: number): Uint8Array {
  return new DumpBytes(0x90)
    .u32(0, name)
    .u64(0x38, driver.base)
    .u32(0x48, driver.size)
    .u32(0x80, driver.checkSum)
    .u32(0x88, driver.timeDateStamp).bytes;
}

function unloadedList(): Uint8Array {
  return new DumpBytes(8 + 56)
    .u64(0, 1n)
    .u16(8, 16, 24)
    .wide(8 + 16, "gone.sys")
    .u64(8 + 40, 0xFFFFF80020200000n, 0xFFFFF80020208000n).bytes;
}
