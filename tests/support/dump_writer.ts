/**
 * Writes dumps for tests. It has offsets of its own and shares nothing with the parsers, so that a wrong offset
 * there fails a test. Everything that is not set stays what Windows leaves there: the letters PAGE.
 */

/** Bytes that are filled in at positions. */
export class DumpBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;

  constructor(size: number, fill: string = "\0") {
    this.bytes = Uint8Array.from({ length: size }, (_, index) => fill.charCodeAt(index % fill.length));
    this.#view = new DataView(this.bytes.buffer);
  }

  u8(offset: number, value: number): this {
    this.#view.setUint8(offset, value);
    return this;
  }

  u16(offset: number, ...values: number[]): this {
    values.forEach((value, index) => this.#view.setUint16(offset + 2 * index, value, true));
    return this;
  }

  u32(offset: number, ...values: number[]): this {
    values.forEach((value, index) => this.#view.setUint32(offset + 4 * index, value, true));
    return this;
  }

  u64(offset: number, ...values: bigint[]): this {
    values.forEach((value, index) => this.#view.setBigUint64(offset + 8 * index, value, true));
    return this;
  }

  text(offset: number, text: string): this {
    for (let index = 0; index < text.length; index++) {
      this.#view.setUint8(offset + index, text.charCodeAt(index));
    }
    return this;
  }

  wide(offset: number, text: string): this {
    for (let index = 0; index < text.length; index++) {
      this.#view.setUint16(offset + 2 * index, text.charCodeAt(index), true);
    }
    return this;
  }
}

/** Joins pieces of a file. */
export function joinBytes(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** 2024-01-17T21:20:00Z as a FILETIME. */
export const SOME_FILETIME = 0x1DA498AED83C000n;

/** A 64-bit header of a machine that stopped with 0xD1, without a body; set or damage fields afterwards. */
export function kernelHeader64(dumpType: number): DumpBytes {
  return new DumpBytes(0x2000, "PAGE")
    .text(0, "PAGEDU64")
    .u32(8, 15, 19041)
    .u64(0x10, 0x1AD002n, 0xFFFFF80010003628n, 0xFFFFF80010003380n, 0xFFFFF80010003390n)
    .u32(0x30, 0x8664, 2, 0xD1)
    .u64(0x40, 0xFFFFA00000DEADB0n, 2n, 0n, 0xFFFFF800200010ECn)
    .u64(0x80, 0xFFFFF80010003000n)
    .u32(0x348 + 0x30, 0x10001F)
    .u64(0x348 + 0x98, 0xFFFFD00012343718n)
    .u64(0x348 + 0xF8, 0xFFFFF800100010A4n)
    .u32(0xF00, 0x80000003, 1)
    .u64(0xF08, 0n, 0xFFFFF800100010A4n)
    .u32(0xF18, 1)
    .u64(0xF20, 7n)
    .u32(0xF98, dumpType)
    .u64(0xFA0, 0x2000n, SOME_FILETIME)
    .u64(0x1030, 12_345_678_900n)
    .u32(0x1038, 0xCFF)
    .u32(0x1040, 1, 0x110);
}

/** A 32-bit header of the same kind. */
export function kernelHeader32(dumpType: number): DumpBytes {
  return new DumpBytes(0x1000, "PAGE")
    .text(0, "PAGEDUMP")
    .u32(8, 15, 7601, 0x3020, 0x80403424, 0x80403340, 0x80403348, 0x14C, 1, 0xD1, 0x10, 2, 1, 0xF7A01009)
    .u8(0x5C, 1)
    .u32(0x60, 0x80403000)
    .u32(0x320, 0x1001F)
    .u32(0x320 + 0xB8, 0xF7A01009)
    .u32(0x320 + 0xC4, 0x8B002F54)
    .u32(0x7D0, 0xC0000005, 0, 0, 0xF7A01009, 2, 1, 0x10)
    .u32(0xF88, dumpType)
    .u32(0xF94, 3, 0x100)
    .u64(0xFA0, 0x1000n)
    .u64(0xFB8, 50_000_000n, SOME_FILETIME);
}

/** Pages of a dump body; their content does not matter to headers. */
export function pages(count: number): Uint8Array {
  return new Uint8Array(count * 4096).fill(0x33);
}

/** A full dump with the given runs of (first page, pages); `held` pages are really in the file. */
export function fullDump64(runs: [bigint, bigint][], held?: number): Uint8Array<ArrayBuffer> {
  const total = runs.reduce((sum, [, count]) => sum + count, 0n);
  const header = kernelHeader64(1).u32(0x88, runs.length).u64(0x90, total);
  header.u64(0x98, ...runs.flat());
  return joinBytes(header.bytes, pages(held ?? Number(total)));
}

/** As {@link fullDump64}, for a 32-bit machine. */
export function fullDump32(runs: [number, number][]): Uint8Array<ArrayBuffer> {
  const total = runs.reduce((sum, [, count]) => sum + count, 0);
  const header = kernelHeader32(1).u32(0x64, runs.length, total, ...runs.flat());
  return joinBytes(header.bytes, pages(total));
}

/** A bitmap dump (types 5 and 6) whose bitmap bytes are given; the first page follows it at once. */
export function bitmapDump(
  dumpType: number,
  signature: string,
  bitmap: number[],
  claims: { bits?: bigint; pages?: bigint; firstPage?: bigint; held?: number } = {},
): Uint8Array<ArrayBuffer> {
  const set = bitmap.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  const body = new DumpBytes(0x38 + bitmap.length)
    .text(0, `${signature}DUMP`)
    .u64(0x20, claims.firstPage ?? BigInt(0x2038 + bitmap.length))
    .u64(0x28, claims.pages ?? BigInt(set))
    .u64(0x30, claims.bits ?? BigInt(bitmap.length * 8));
  body.bytes.set(bitmap, 0x38);
  return joinBytes(kernelHeader64(dumpType).bytes, body.bytes, pages(claims.held ?? set));
}

/** A kernel summary (type 2) of a 64-bit machine. */
export function summaryDump64(bitmap: number[], count: number): Uint8Array<ArrayBuffer> {
  const bits = bitmap.length * 8;
  const body = new DumpBytes(0x28 + bitmap.length)
    .text(0, "SDMPDUMP")
    .u32(0x0C, 0x2028 + bitmap.length, bits, count, bits);
  body.bytes.set(bitmap, 0x28);
  return joinBytes(kernelHeader64(2).bytes, body.bytes, pages(count));
}

/** A dump that a debugger wrote (types 8, 9, 0xA). */
export function rangeDump(
  dumpType: number,
  ranges: [bigint, bigint][],
  claims: { count?: number; total?: bigint; held?: number } = {},
): Uint8Array<ArrayBuffer> {
  const total = ranges.reduce((sum, [, count]) => sum + count, 0n);
  const size = 0x30 + ranges.length * 16;
  const body = new DumpBytes(size)
    .u32(0, 0x40)
    .text(4, "RDMPDUMP")
    .u64(0x10, BigInt(size - 0x20), BigInt(0x2000 + size))
    .u32(0x20, claims.count ?? ranges.length)
    .u64(0x28, claims.total ?? total)
    .u64(0x30, ...ranges.flat());
  return joinBytes(kernelHeader64(dumpType).bytes, body.bytes, pages(claims.held ?? Number(total)));
}

/** Where the parts of {@link triageDump64} lie. */
export const TRIAGE_PARTS = { size: 0x2800, unloaded: 0x2100, drivers: 0x2300, blocks: 0x2500 } as const;

/** A small memory dump with two drivers, one unloaded driver and three data blocks; two secondary blobs behind it. */
export function triageDump64(): DumpBytes {
  const { size, unloaded, drivers, blocks } = TRIAGE_PARTS;
  const dump = new DumpBytes(size + 0x10 + 0x20 + 8 + 0x20 + 4 + 16);
  dump.bytes.set(kernelHeader64(4).bytes);
  return dump
    .u32(0x2000, 0, size, size - 4, 0x348, 0xF00, 0x2080, unloaded, 0x2600, 0x2640, 0x2680)
    .u32(0x2028, 0x26C0, 0x40, drivers, 2, 0x2700, 0x20)
    .u32(0x2044, 0xFFFFFFFF)
    .u64(0x2048, 0xFFFFD00012343718n)
    .u32(0x2070, 0x2740, 0x40, blocks, 3)
    .u64(unloaded, 1n)
    .text(size - 4, "TRGD")
    .text(size, "DumpBlob")
    .u32(size + 8, 0x10, 0xF0004A61)
    .u32(size + 0x10, 0x20)
    .u32(size + 0x10 + 0x14, 8)
    .u32(size + 0x38, 0x20)
    .u32(size + 0x38 + 0x14, 16, 4);
}

/** One stream of a minidump. */
export interface WrittenStream {
  type: number;
  data: Uint8Array;
}

/** A minidump with these streams, one after the other behind the directory. */
export function minidump(streams: WrittenStream[], flags = 0n): DumpBytes {
  const directory = 0x20;
  let offset = directory + streams.length * 12;
  const dump = new DumpBytes(streams.reduce((size, { data }) => size + data.length, offset))
    .text(0, "MDMP")
    .u32(4, 0xA793, streams.length, directory, 0, 1_700_000_000)
    .u64(0x18, flags);
  streams.forEach(({ type, data }, index) => {
    dump.u32(directory + index * 12, type, data.length, offset);
    dump.bytes.set(data, offset);
    offset += data.length;
  });
  return dump;
}

/** SystemInfo of an x64 Windows 10.0.19045 workstation with 8 processors. */
export function systemInfoStream(): WrittenStream {
  const data = new DumpBytes(0x38).u16(0, 9).u8(6, 8).u8(7, 1).u32(8, 10, 0, 19045, 2).u16(0x1C, 0x100);
  return { type: 7, data: data.bytes };
}

/** An exception of thread 42 with its parameters. */
export function exceptionStream(code: number, address: bigint, ...parameters: bigint[]): WrittenStream {
  const data = new DumpBytes(0xA8, "\xEE")
    .u32(0, 42)
    .u32(8, code, 0)
    .u64(0x18, address)
    .u32(0x20, parameters.length)
    .u64(0x28, ...parameters);
  return { type: 6, data: data.bytes };
}

/** MiscInfo with process id and start time. */
export function miscInfoStream(flags: number): WrittenStream {
  return { type: 15, data: new DumpBytes(0x18).u32(0, 0x18, flags, 4711, 1_699_999_000).bytes };
}

/** A 64-bit ELF core with one note segment of (name, type, data) and one memory segment of `memory` bytes. */
export function elfCore(notes: [string, number, string][], memory = 64): DumpBytes {
  const parts = notes.map(([name, type, data]) => {
    const nameSize = name.length + 1;
    const padded = (size: number): number => Math.ceil(size / 4) * 4;
    return new DumpBytes(12 + padded(nameSize) + padded(data.length))
      .u32(0, nameSize, data.length, type)
      .text(12, name)
      .text(12 + padded(nameSize), data).bytes;
  });
  const noteBytes = joinBytes(...parts);
  const noteOffset = 64 + 2 * 56;
  const memoryOffset = noteOffset + noteBytes.length;
  const core = new DumpBytes(memoryOffset + memory)
    .text(0, "\x7FELF")
    .u8(4, 2).u8(5, 1).u8(6, 1)
    .u16(16, 4, 62)
    .u64(32, 64n)
    .u16(54, 56, 2)
    .u32(64, 4)
    .u64(64 + 8, BigInt(noteOffset))
    .u64(64 + 32, BigInt(noteBytes.length))
    .u32(120, 1)
    .u64(120 + 8, BigInt(memoryOffset))
    .u64(120 + 32, BigInt(memory));
  core.bytes.set(noteBytes, noteOffset);
  return core;
}

/** The first block of a kdump-compressed file, version 6, of a Linux guest with 2 processors. */
export function kdumpHeader(): DumpBytes {
  return new DumpBytes(4096)
    .text(0, "KDUMP   ")
    .u32(8, 6)
    .text(12, "Linux").text(77, "web").text(142, "6.1.0-57-cloud-amd64").text(272, "x86_64")
    .u32(428, 4096)
    .u32(460, 2);
}

/** A kdump in the flattened envelope. */
export function flattenedKdump(): Uint8Array<ArrayBuffer> {
  const inner = kdumpHeader().bytes;
  const head = new DumpBytes(4096 + 16).text(0, "makedumpfile").u8(23, 1).u8(31, 1);
  new DataView(head.bytes.buffer).setBigInt64(4096 + 8, BigInt(inner.length), false);
  return joinBytes(head.bytes, inner);
}
