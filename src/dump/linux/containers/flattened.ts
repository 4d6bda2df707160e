/** Undoes the flattened envelope: makedumpfile and QEMU write kdumps to pipes as records of offset, size and data. */

import type { ByteSource } from "../../bytes.ts";
import { badDump } from "../../reasons.ts";

const HEADER_BYTES = 4096;
const RECORD_BYTES = 16;
const SIGNATURE_BYTES = 16;
const TYPE = 1n;
const VERSION = 1n;
const END = -1n;
const MAXIMUM_RECORDS = 2 ** 22;
/** No file that is opened reaches further. */
const OFFSET_LIMIT = 2 ** 50;

interface FlatRecord {
  /** Position in the file that was flattened. */
  readonly start: number;
  readonly length: number;
  /** Position of its data in the envelope. */
  readonly data: number;
  readonly order: number;
}

/** The file inside an envelope; what no record wrote is zero. */
export interface FlattenedFile extends ByteSource {
  /** Whether the mark that ends the records is missing: the rest of the file is lost then. */
  readonly cut: boolean;
}

/**
 * Indexes the records once. They may overlap and come in any order: the later one holds. With a `limit` only the first
 * of them count. Fails with `hv.bad_dump`
 * (`header_damaged`) for another type or version and for records that fit into no file.
 */
export function openFlattened(source: ByteSource, limit = Infinity): FlattenedFile {
  const head = viewOf(source.read(0, SIGNATURE_BYTES + 16));
  if (
    head.byteLength < SIGNATURE_BYTES + 16 || head.getBigUint64(SIGNATURE_BYTES) !== TYPE ||
    head.getBigUint64(SIGNATURE_BYTES + 8) !== VERSION
  ) {
    throw badDump(
      "header_damaged",
      "Cannot open the flattened kdump: its envelope has another type or version",
      {
        offset: SIGNATURE_BYTES,
        expected: "type 1, version 1",
      },
    );
  }
  const records: FlatRecord[] = [];
  let cut = true;
  for (let at = HEADER_BYTES; at + RECORD_BYTES <= source.size && records.length < limit;) {
    const view = viewOf(source.read(at, RECORD_BYTES));
    const start = view.getBigInt64(0);
    if (start === END) {
      cut = false;
      break;
    }
    const length = Number(view.getBigInt64(8));
    if (start < 0n || start > OFFSET_LIMIT || length <= 0 || records.length >= MAXIMUM_RECORDS) {
      throw badDump(
        "header_damaged",
        `Cannot open the flattened kdump: its record at ${at} fits into no file`,
        {
          offset: at,
        },
      );
    }
    const there = Math.min(length, source.size - at - RECORD_BYTES);
    if (there > 0) {
      records.push({ start: Number(start), length: there, data: at + RECORD_BYTES, order: records.length });
    }
    at += RECORD_BYTES + length;
  }
  return new RecordedFile(source, records, cut);
}

class RecordedFile implements FlattenedFile {
  readonly size: number;
  readonly cut: boolean;
  readonly #source: ByteSource;
  readonly #records: readonly FlatRecord[];
  readonly #longest: number;

  constructor(source: ByteSource, records: FlatRecord[], cut: boolean) {
    this.#source = source;
    this.#records = records.sort((a, b) => a.start - b.start);
    this.#longest = records.reduce((longest, { length }) => Math.max(longest, length), 0);
    this.size = records.reduce((size, { start, length }) => Math.max(size, start + length), 0);
    this.cut = cut;
  }

  read(offset: number, length: number): Uint8Array {
    const end = Math.min(offset + length, this.size);
    if (offset < 0 || end <= offset) return new Uint8Array(0);
    const touched: FlatRecord[] = [];
    for (let index = this.#firstFrom(offset - this.#longest); index < this.#records.length; index++) {
      const record = this.#records[index];
      if (record === undefined || record.start >= end) break;
      if (record.start + record.length > offset) touched.push(record);
    }
    const bytes = new Uint8Array(end - offset);
    for (const { start, length: size, data } of touched.sort((a, b) => a.order - b.order)) {
      const from = Math.max(offset, start);
      const to = Math.min(end, start + size);
      bytes.set(this.#source.read(data + from - start, to - from), from - offset);
    }
    return bytes;
  }

  #firstFrom(start: number): number {
    let low = 0;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#records[middle]?.start ?? Infinity) < start) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
