/** Writes an ELF core with the headers and notes of another one and some of its pages. */

import type { ByteSource } from "../../../src/dump/bytes.ts";
import { DumpBytes, joinBytes } from "../../../tests/support/dump_writer.ts";

const PAGE_BYTES = 4096;
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const SEGMENT = { load: 1, note: 4 } as const;

/** One segment for each run of pages. */
export function writeSample(source: ByteSource, pages: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const notes = notesOf(source);
  const runs: { frame: number; pages: Uint8Array[] }[] = [];
  for (const [frame, page] of [...pages].sort(([a], [b]) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last.frame + last.pages.length === frame) last.pages.push(page);
    else runs.push({ frame, pages: [page] });
  }
  const notesAt = HEADER_BYTES + SEGMENT_BYTES * (runs.length + 1);
  const start = Math.ceil((notesAt + notes.length) / PAGE_BYTES) * PAGE_BYTES;
  const head = new DumpBytes(start);
  head.bytes.set(source.read(0, HEADER_BYTES));
  head.u64(0x20, BigInt(HEADER_BYTES)).u64(0x28, 0n).u16(0x38, runs.length + 1).u16(0x3C, 0, 0);
  head.u32(HEADER_BYTES, SEGMENT.note).u64(HEADER_BYTES + 8, BigInt(notesAt)).u64(
    HEADER_BYTES + 32,
    BigInt(notes.length),
  );
  head.bytes.set(notes, notesAt);
  let offset = start;
  runs.forEach((run, index) => {
    const size = run.pages.length * PAGE_BYTES;
    const segment = HEADER_BYTES + SEGMENT_BYTES * (index + 1);
    head.u32(segment, SEGMENT.load)
      .u64(segment + 8, BigInt(offset), 0n, BigInt(run.frame * PAGE_BYTES), BigInt(size), BigInt(size));
    offset += size;
  });
  return joinBytes(head.bytes, ...runs.flatMap((run) => run.pages));
}

function notesOf(source: ByteSource): Uint8Array {
  const header = source.read(0, HEADER_BYTES);
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const first = Number(view.getBigUint64(0x20, true));
  for (let index = 0; index < view.getUint16(0x38, true); index++) {
    const bytes = source.read(first + SEGMENT_BYTES * index, SEGMENT_BYTES);
    const segment = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (segment.getUint32(0, true) !== SEGMENT.note) continue;
    return source.read(Number(segment.getBigUint64(8, true)), Number(segment.getBigUint64(32, true)));
  }
  throw new Error("the core has no notes");
}
