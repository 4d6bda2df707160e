/** Bodies of dumps that a debugger wrote (types 8, 9 and 0xA): a list of page ranges, then the pages. */

import type { ByteReader } from "../bytes.ts";
import { jsonCount } from "../numbers.ts";
import { at } from "../layout.ts";
import type { DumpWarning } from "../reasons.ts";
import { type BodySummary, countPages, PAGE_BYTES, type PageRun, UNKNOWN_BODY } from "./runs.ts";

/** RDMP header, from the end of the dump header. The engine ignores marker and metadata size. */
export const RDMP_HEADER = {
  marker: at(0x00, 4, "kdmp-parser"),
  signature: at(0x04, 4, "kdmp-parser"),
  valid_dump: at(0x08, 4, "kdmp-parser"),
  metadata_size: at(0x10, 8, "kdmp-parser"),
  first_page: at(0x18, 8, "debugger-observed"),
  number_of_ranges: at(0x20, 4, "debugger-observed"),
  total_pages: at(0x28, 8, "debugger-observed"),
  ranges: at(0x30, 0, "debugger-observed"),
} as const;

/** Value of the marker in every file seen. */
export const RDMP_MARKER = 0x40;
/** A range: first page frame and number of pages. */
export const RANGE_BYTES = 16;
/** More ranges than this are not added up: the time of an inspection must not depend on the machine's memory. */
const COUNTED_RANGES = 2048;

/**
 * Reads the header of an RDMP body that starts at `start`. Warnings: `run_count`, `run_overflow`, `run_overlap`,
 * `page_count_mismatch` (the ranges are trusted), `body_offset`.
 */
export function readRdmpBody(reader: ByteReader, start: number, warnings: DumpWarning[]): BodySummary {
  const firstPage = reader.u64(start + RDMP_HEADER.first_page.offset, "FirstPageOffset");
  const claimed = reader.u32(start + RDMP_HEADER.number_of_ranges.offset, "NumberOfRanges");
  const total = reader.u64(start + RDMP_HEADER.total_pages.offset, "TotalNumberOfPages");
  const list = start + RDMP_HEADER.ranges.offset;
  const body: BodySummary = { ...UNKNOWN_BODY, firstPageOffset: firstPage, runCount: claimed };
  const end = firstPage < BigInt(reader.size) ? Number(firstPage) : reader.size;
  if (firstPage < BigInt(list)) {
    warnings.push({
      reason: "body_offset",
      message: `The first page lies at ${firstPage}, before the ranges end`,
      offset: start + RDMP_HEADER.first_page.offset,
      expected: list,
      actual: jsonCount(firstPage),
    });
  }
  const room = Math.max(0, Math.floor((end - list) / RANGE_BYTES));
  if (claimed === 0 || claimed > room) {
    warnings.push({
      reason: "run_count",
      message: `The header claims ${claimed} page ranges, there is room for ${room}`,
      offset: start + RDMP_HEADER.number_of_ranges.offset,
      expected: claimed,
      actual: room,
    });
  }
  const count = Math.min(claimed, room);
  if (count === 0) return body;
  if (count > COUNTED_RANGES) {
    return { ...body, pages: total, expectedSize: firstPage + total * PAGE_BYTES };
  }
  const runs = readRanges(reader, list, count);
  const pages = countPages(runs, list, warnings);
  if (pages !== null && pages !== total && claimed === count) {
    warnings.push({
      reason: "page_count_mismatch",
      message: `The header claims ${total} pages, its ranges have ${pages}; the ranges are trusted`,
      offset: start + RDMP_HEADER.total_pages.offset,
      expected: jsonCount(total),
      actual: jsonCount(pages),
    });
  }
  return { ...body, runs, pages, expectedSize: pages === null ? null : firstPage + pages * PAGE_BYTES };
}

function readRanges(reader: ByteReader, list: number, count: number): PageRun[] {
  const runs: PageRun[] = [];
  for (let index = 0; index < count; index++) {
    const offset = list + index * RANGE_BYTES;
    runs.push({ firstPage: reader.u64(offset, "PageFrame"), pages: reader.u64(offset + 8, "PageCount") });
  }
  return runs;
}
