/** Bodies with a bitmap of page frames: types 5 and 6, and the older kernel summary, type 2. */

import type { ByteReader } from "../bytes.ts";
import { hex, jsonCount } from "../numbers.ts";
import type { DumpWarning } from "../reasons.ts";
import { at, from } from "../layout.ts";
import { type BodySummary, PAGE_BYTES, UNKNOWN_BODY } from "./runs.ts";

/** Bitmap header, from the end of the dump header. */
export const BITMAP_HEADER = {
  signature: at(0x00, 4, "kdmp-parser"),
  valid_dump: at(0x04, 4, "kdmp-parser"),
  dump_options: at(0x08, 4, "reactos"),
  first_page: at(0x20, 8, "kdmp-parser"),
  pages: at(0x28, 8, "kdmp-parser"),
  bits: at(0x30, 8, "kdmp-parser"),
  bitmap: at(0x38, 0, "kdmp-parser"),
} as const;

/** Kernel summary header, from the end of the dump header; the bitmap lies behind an RTL_BITMAP. */
export const SUMMARY_HEADER = {
  signature: at(0x00, 4, "ghidra"),
  valid_dump: at(0x04, 4, "ghidra"),
  dump_options: at(0x08, 4, "ghidra"),
  first_page: at(0x0C, 4, "debugger-observed"),
  bits: at(0x10, 4, "debugger-observed"),
  pages: at(0x14, 4, "debugger-observed"),
  bitmap32: at(0x20, 0, "debugger-observed"),
  bitmap64: at(0x28, 0, "debugger-observed"),
} as const;

/** 2^30 pages are 4 TiB: the largest bitmap that is accepted. */
const MAXIMUM_BITS = 1n << 30n;
/** Bitmaps up to this many bits are counted; a larger one would make the time depend on the machine's memory. */
const COUNTED_BITS = 65_536n;

/** Reads the header of a bitmap body (types 5 and 6) that starts at `start`. Warnings as {@link checkBitmap}. */
export function readBitmapBody(reader: ByteReader, start: number, warnings: DumpWarning[]): BodySummary {
  const firstPage = reader.u64(from(start, BITMAP_HEADER.first_page).offset, "FirstPage");
  const pages = reader.u64(from(start, BITMAP_HEADER.pages).offset, "Pages");
  const bits = reader.u64(from(start, BITMAP_HEADER.bits).offset, "BitmapSize");
  return checkBitmap(
    reader,
    { firstPage, pages, bits, bitmap: start + BITMAP_HEADER.bitmap.offset },
    warnings,
  );
}

/** Reads the header of a kernel summary body (type 2) that starts at `start`. */
export function readSummaryBody(
  reader: ByteReader,
  start: number,
  bits: 32 | 64,
  warnings: DumpWarning[],
): BodySummary {
  const bitmap = bits === 64 ? SUMMARY_HEADER.bitmap64 : SUMMARY_HEADER.bitmap32;
  return checkBitmap(reader, {
    firstPage: BigInt(reader.u32(start + SUMMARY_HEADER.first_page.offset, "HeaderSize")),
    pages: BigInt(reader.u32(start + SUMMARY_HEADER.pages.offset, "Pages")),
    bits: BigInt(reader.u32(start + SUMMARY_HEADER.bits.offset, "BitmapSize")),
    bitmap: start + bitmap.offset,
  }, warnings);
}

/** What both headers say, and where the bits lie. */
interface BitmapClaims {
  firstPage: bigint;
  pages: bigint;
  bits: bigint;
  bitmap: number;
}

/**
 * Warnings: `bitmap_size` (larger than the file, the first page or any machine), `body_offset` (pages inside the
 * headers), `page_count_mismatch` (more pages than bits, or than set bits of a small bitmap).
 */
function checkBitmap(reader: ByteReader, claims: BitmapClaims, warnings: DumpWarning[]): BodySummary {
  const { firstPage, pages, bits, bitmap } = claims;
  const body: BodySummary = { ...UNKNOWN_BODY, pages, firstPageOffset: firstPage, bitmapBits: bits };
  const bytes = (bits + 7n) / 8n;
  const room = BigInt(Math.max(0, reader.size - bitmap));
  if (bits > MAXIMUM_BITS || bytes > room) {
    warnings.push({
      reason: "bitmap_size",
      message: bits > MAXIMUM_BITS
        ? `The bitmap claims ${hex(bits)} pages, more than any machine has`
        : `The bitmap claims ${bytes} bytes, the file has ${room} behind it`,
      offset: bitmap,
      expected: jsonCount(bytes),
      actual: jsonCount(room),
    });
    return { ...body, pages: null, expectedSize: null };
  }
  if (firstPage < BigInt(bitmap) + bytes) {
    warnings.push({
      reason: "body_offset",
      message: `The first page lies at ${hex(firstPage)}, inside the bitmap that ends at ${
        hex(BigInt(bitmap) + bytes)
      }`,
      offset: bitmap,
      expected: jsonCount(BigInt(bitmap) + bytes),
      actual: jsonCount(firstPage),
    });
  }
  const set = bits <= COUNTED_BITS ? countBits(reader, bitmap, Number(bits)) : null;
  const limit = set ?? bits;
  if (set === null ? pages > bits : pages !== set) {
    warnings.push({
      reason: "page_count_mismatch",
      message: `The header claims ${pages} pages, the bitmap has ${
        set === null ? "room for" : "set"
      } ${limit}`,
      offset: bitmap,
      expected: jsonCount(pages),
      actual: jsonCount(limit),
    });
  }
  const counted = pages > limit ? limit : pages;
  return { ...body, pages: counted, expectedSize: firstPage + counted * PAGE_BYTES };
}

/** Set bits of the first `bits`; the spare bits of the last byte do not count. */
function countBits(reader: ByteReader, offset: number, bits: number): bigint {
  const bytes = reader.bytes(offset, Math.ceil(bits / 8), "bitmap");
  let count = 0;
  bytes.forEach((byte, index) => {
    const valid = Math.min(8, bits - index * 8);
    for (let rest = byte & ((1 << valid) - 1); rest !== 0; rest &= rest - 1) count++;
  });
  return BigInt(count);
}
