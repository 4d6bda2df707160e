/** Runs of physical pages: the list in a full dump's header and the ranges of an RDMP body. */

import { hex, jsonCount } from "../numbers.ts";
import type { DumpWarning } from "../reasons.ts";

/** A run of consecutive page frames; its pages follow those of the run before it in the file. */
export interface PageRun {
  firstPage: bigint;
  pages: bigint;
}

/** What the inspection needs to know of a body, whatever its form. Null: not told, or told wrongly. */
export interface BodySummary {
  /** Pages that the file says it holds. */
  pages: bigint | null;
  /** File offset of the first page. */
  firstPageOffset: bigint | null;
  /** Size that a complete file has at least. */
  expectedSize: bigint | null;
  /** Runs as the file lists them; null for forms without a list. */
  runs: PageRun[] | null;
  /** How many runs the file says it has. */
  runCount: number | null;
  /** Length of the bitmap in bits. */
  bitmapBits: bigint | null;
}

export const PAGE_BYTES = 4096n;

/** No machine has page frames at or above this (2^40 pages are 4 PiB). */
export const PAGE_FRAME_LIMIT = 1n << 40n;

/** A body about which nothing is known. */
export const UNKNOWN_BODY: BodySummary = {
  pages: null,
  firstPageOffset: null,
  expectedSize: null,
  runs: null,
  runCount: null,
  bitmapBits: null,
};

/**
 * Adds up runs and warns of those that are impossible (`run_overflow`) or share pages (`run_overlap`; the first
 * run wins for reads). Null when a run is impossible. `offset` is where the list lies in the file.
 */
export function countPages(runs: readonly PageRun[], offset: number, warnings: DumpWarning[]): bigint | null {
  const wrong = runs.find((run) => run.firstPage + run.pages > PAGE_FRAME_LIMIT);
  if (wrong !== undefined) {
    warnings.push({
      reason: "run_overflow",
      message: `A run of ${hex(wrong.pages)} pages from page ${
        hex(wrong.firstPage)
      } is beyond any machine's memory`,
      offset,
      expected: jsonCount(PAGE_FRAME_LIMIT),
      actual: jsonCount(wrong.firstPage + wrong.pages),
    });
    return null;
  }
  const shared = firstOverlap(runs);
  if (shared !== null) {
    warnings.push({
      reason: "run_overlap",
      message: `Two runs hold page ${hex(shared)}; the first one in the file counts`,
      offset,
    });
  }
  return runs.reduce((sum, run) => sum + run.pages, 0n);
}

function firstOverlap(runs: readonly PageRun[]): bigint | null {
  const sorted = runs.filter((run) => run.pages > 0n)
    .sort((a, b) => (a.firstPage < b.firstPage ? -1 : a.firstPage > b.firstPage ? 1 : 0));
  let end = 0n;
  for (const run of sorted) {
    if (run.firstPage < end) return run.firstPage;
    end = run.firstPage + run.pages;
  }
  return null;
}
