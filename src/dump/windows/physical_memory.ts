/** The body of a full dump (type 1): runs in the header, pages packed behind it. */

import type { ByteReader } from "../bytes.ts";
import { jsonCount } from "../numbers.ts";
import type { DumpWarning } from "../reasons.ts";
import { HeaderFields } from "./filler.ts";
import { fillerOf } from "./header.ts";
import type { HeaderLayout } from "./header_layout.ts";
import { type BodySummary, countPages, PAGE_BYTES, type PageRun, UNKNOWN_BODY } from "./runs.ts";

/** Whole runs that fit into the 700 bytes of a 64-bit header; the 32-bit one has room for more, none needs it. */
const MAXIMUM_RUNS = 42;

/**
 * Reads the run list of a header. Warnings: `body_unusable` (never written), `run_count`, `run_overflow`,
 * `run_overlap`, `page_count_mismatch` (the runs are trusted, as debuggers do).
 */
export function readPhysicalMemory(
  reader: ByteReader,
  layout: HeaderLayout,
  warnings: DumpWarning[],
): BodySummary {
  const at = layout.fields;
  const fields = new HeaderFields(reader, fillerOf(reader, layout));
  const runCount = fields.number(at.number_of_runs, "NumberOfRuns");
  const body: BodySummary = { ...UNKNOWN_BODY, firstPageOffset: BigInt(layout.size) };
  const offset = at.number_of_runs.offset;
  if (runCount === null) {
    if (reader.has(offset, at.number_of_runs.size)) {
      warnings.push({
        reason: "body_unusable",
        message: "The list of memory runs was never written, so the pages cannot be placed",
        offset,
      });
    }
    return body;
  }
  if (runCount === 0 || runCount > MAXIMUM_RUNS) {
    warnings.push({
      reason: "run_count",
      message: `The header claims ${runCount} memory runs, 1 to ${MAXIMUM_RUNS} are possible`,
      offset,
      expected: MAXIMUM_RUNS,
      actual: runCount,
    });
    return body;
  }
  const runs = readRuns(reader, layout, runCount);
  const pages = countPages(runs, at.runs.offset, warnings);
  const claimed = fields.wide(at.number_of_pages, "NumberOfPages");
  if (pages !== null && claimed !== null && claimed !== pages) {
    warnings.push({
      reason: "page_count_mismatch",
      message: `The header claims ${claimed} pages, its runs have ${pages}; the runs are trusted`,
      offset: at.number_of_pages.offset,
      expected: jsonCount(claimed),
      actual: jsonCount(pages),
    });
  }
  const expectedSize = pages === null ? null : BigInt(layout.size) + pages * PAGE_BYTES;
  return { ...body, pages, runs, runCount, expectedSize };
}

function readRuns(reader: ByteReader, layout: HeaderLayout, count: number): PageRun[] {
  const width = layout.bits / 8;
  const runs: PageRun[] = [];
  for (let index = 0; index < count; index++) {
    const offset = layout.fields.runs.offset + index * 2 * width;
    if (!reader.has(offset, 2 * width)) break;
    runs.push({
      firstPage: width === 8 ? reader.u64(offset, "BasePage") : BigInt(reader.u32(offset, "BasePage")),
      pages: width === 8 ? reader.u64(offset + 8, "PageCount") : BigInt(reader.u32(offset + 4, "PageCount")),
    });
  }
  return runs;
}
