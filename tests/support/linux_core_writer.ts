/** Writes cores of a small Linux machine in each container, for tests. */

import { DumpBytes, joinBytes } from "./dump_writer.ts";
import type { LinuxMachine } from "./linux_machine.ts";

const PAGE = 4096;

/** ELF notes. */
function note(name: string, type: number, data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil(data.length / 4) * 4);
  padded.set(data);
  const label = new DumpBytes(Math.ceil((name.length + 1) / 4) * 4).text(0, name).bytes;
  return joinBytes(new DumpBytes(12).u32(0, name.length + 1, data.length, type).bytes, label, padded);
}

/** The notes of a machine; without VMCOREINFO when it is not wanted. */
export function notesOf(machine: LinuxMachine, withInfo = true): Uint8Array {
  const info = new TextEncoder().encode(machine.vmcoreinfo);
  return joinBytes(
    note("CORE", 1, machine.registers),
    ...(withInfo ? [note("VMCOREINFO", 0, info)] : []),
  );
}

/** An ELF core, one segment for each run of pages. */
export function elfCoreOf(machine: LinuxMachine, withInfo = true): Uint8Array<ArrayBuffer> {
  const notes = notesOf(machine, withInfo);
  const runs: { frame: number; pages: Uint8Array[] }[] = [];
  for (const [frame, bytes] of machine.pages) {
    const last = runs.at(-1);
    if (last !== undefined && last.frame + last.pages.length === frame) last.pages.push(bytes);
    else runs.push({ frame, pages: [bytes] });
  }
  const headers = 64 + 56 * (runs.length + 1);
  const start = Math.ceil((headers + notes.length) / PAGE) * PAGE;
  const head = new DumpBytes(start).text(0, "\x7FELF\x02\x01\x01").u16(16, 4, 62).u64(32, 64n).u16(
    54,
    56,
    runs.length + 1,
  );
  head.u32(64, 4).u64(64 + 8, BigInt(headers)).u64(64 + 32, BigInt(notes.length));
  head.bytes.set(notes, headers);
  let offset = start;
  runs.forEach(({ frame, pages }, index) => {
    const size = BigInt(pages.length * PAGE);
    head.u32(64 + 56 * (index + 1), 1)
      .u64(64 + 56 * (index + 1) + 8, BigInt(offset), 0n, BigInt(frame) * 4096n, size, size);
    offset += pages.length * PAGE;
  });
  return joinBytes(head.bytes, ...runs.flatMap(({ pages }) => pages));
}

/** A page as a kdump has it: the filter's flag and the packed bytes. */
export type PackedPage = readonly [flags: number, bytes: Uint8Array];

/** A kdump-compressed file of version 6; `pack` packs each page of `block` bytes. */
export function kdumpOf(
  machine: LinuxMachine,
  pack: (page: Uint8Array, index: number) => PackedPage,
  block = PAGE,
): Uint8Array<ArrayBuffer> {
  const pages = blocksOf(machine.pages, block / PAGE);
  const lastPage = (pages.at(-1)?.[0] ?? 0) + 1;
  const half = Math.ceil(lastPage / 8 / block);
  const head = new DumpBytes(block).text(0, "KDUMP   ").u32(8, 6).text(272, "x86_64")
    .u32(428, block, 1, 2 * half, lastPage).u32(460, 1);
  const info = new TextEncoder().encode(machine.vmcoreinfo);
  const notes = notesOf(machine);
  const descriptors = block * (2 + 2 * half);
  const infoAt = descriptors + 24 * pages.length;
  const notesAt = infoAt + info.length;
  const sub = new DumpBytes(block).u64(
    32,
    BigInt(infoAt),
    BigInt(info.length),
    BigInt(notesAt),
    BigInt(notes.length),
  )
    .u64(96, BigInt(lastPage));
  const bitmap = new Uint8Array(half * block);
  for (const [page] of pages) bitmap[page >> 3] = (bitmap[page >> 3] ?? 0) | (1 << (page & 7));
  const table = new DumpBytes(24 * pages.length);
  const packed: Uint8Array[] = [];
  let at = notesAt + notes.length;
  pages.forEach(([, bytes], index) => {
    const [flags, piece] = pack(bytes, index);
    table.u64(24 * index, BigInt(at)).u32(24 * index + 8, piece.length, flags);
    packed.push(piece);
    at += piece.length;
  });
  return joinBytes(head.bytes, sub.bytes, bitmap, bitmap, table.bytes, info, notes, ...packed);
}

/** Pages of 4 KiB as pages of `frames` times that, with zeros where the machine has none. */
function blocksOf(
  pages: readonly (readonly [frame: number, bytes: Uint8Array])[],
  frames: number,
): (readonly [number: number, bytes: Uint8Array])[] {
  const blocks = new Map<number, Uint8Array>();
  for (const [frame, bytes] of pages) {
    const number = Math.floor(frame / frames);
    const block = blocks.get(number) ?? new Uint8Array(frames * PAGE);
    block.set(bytes, frame % frames * PAGE);
    blocks.set(number, block);
  }
  return [...blocks].sort(([a], [b]) => a - b);
}

/** The flattened form: the file in records, the last one first, with an overlap that the later record corrects. */
export function flattenedOf(file: Uint8Array, step = 60_000): Uint8Array<ArrayBuffer> {
  const records: Uint8Array[] = [];
  const record = (start: number, data: Uint8Array) => {
    const head = new DataView(new ArrayBuffer(16));
    head.setBigInt64(0, BigInt(start));
    head.setBigInt64(8, BigInt(data.length));
    records.push(new Uint8Array(head.buffer), data);
  };
  for (let start = Math.floor((file.length - 1) / step) * step; start >= 0; start -= step) {
    record(start, new Uint8Array(Math.min(step, file.length - start)).fill(0xEE));
    record(start, file.subarray(start, start + step));
  }
  const head = new Uint8Array(PAGE);
  head.set(new TextEncoder().encode("makedumpfile"));
  const numbers = new DataView(head.buffer);
  numbers.setBigUint64(16, 1n);
  numbers.setBigUint64(24, 1n);
  const end = new Uint8Array(16).fill(0xFF);
  return joinBytes(head, ...records, end);
}
