/** Which page frames a file holds and in which order: by runs or by a bitmap, without a table of every page. */

import type { ByteSource } from "../bytes.ts";
import { PageCache } from "./page_cache.ts";

/** Answers at which place in the file a page frame stands. */
export interface PageIndex {
  /** Pages that the file says it holds; 2^53 - 1 at most. */
  readonly pageCount: number;
  /** Number of the page in the file, 0 for the first; -1 when it is not listed. */
  positionOf(frame: number): number;
}

/** No page at all: a body that cannot be used. */
export const NO_PAGES: PageIndex = { pageCount: 0, positionOf: () => -1 };

/** A run of page frames, as numbers below 2^53. */
export interface FrameRun {
  readonly first: number;
  readonly count: number;
}

/**
 * Runs of frames whose pages follow each other in the file, in the order of the list. They need not be sorted; of
 * runs that share frames the first one in the file counts, as in debuggers.
 */
export class RunIndex implements PageIndex {
  readonly pageCount: number;
  readonly #first: Float64Array;
  readonly #count: Float64Array;
  readonly #position: Float64Array;
  readonly #overlapping: boolean;

  constructor(runs: readonly FrameRun[]) {
    let position = 0;
    const placed = runs.filter(({ count }) => count > 0).map(({ first, count }) => {
      const at = position;
      position = Math.min(Number.MAX_SAFE_INTEGER, position + count);
      return { first, count, at };
    });
    this.pageCount = position;
    const overlapping = hasOverlap(placed);
    if (!overlapping) placed.sort((a, b) => a.first - b.first);
    this.#overlapping = overlapping;
    this.#first = Float64Array.from(placed, ({ first }) => first);
    this.#count = Float64Array.from(placed, ({ count }) => count);
    this.#position = Float64Array.from(placed, ({ at }) => at);
  }

  positionOf(frame: number): number {
    return this.#overlapping ? this.#searchInOrder(frame) : this.#searchSorted(frame);
  }

  #searchSorted(frame: number): number {
    let low = 0;
    let high = this.#first.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#first[middle] ?? 0) <= frame) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? -1 : this.#positionIn(low - 1, frame);
  }

  #searchInOrder(frame: number): number {
    for (let run = 0; run < this.#first.length; run++) {
      const position = this.#positionIn(run, frame);
      if (position >= 0) return position;
    }
    return -1;
  }

  #positionIn(run: number, frame: number): number {
    const inside = frame - (this.#first[run] ?? 0);
    return inside >= 0 && inside < (this.#count[run] ?? 0) ? (this.#position[run] ?? 0) + inside : -1;
  }
}

function hasOverlap(runs: readonly FrameRun[]): boolean {
  const sorted = runs.every((run, index) => index === 0 || run.first >= (runs[index - 1]?.first ?? 0))
    ? runs
    : [...runs].sort((a, b) => a.first - b.first);
  return sorted.some((run, index) => {
    const before = sorted[index - 1];
    return before !== undefined && before.first + before.count > run.first;
  });
}

/** Bytes of the bitmap that one counter stands for: 32,768 pages. */
const BLOCK_BYTES = 4096;
/** Bytes of the bitmap that are read at once while counting. */
const PIECE_BYTES = 64 * 1024;
const KEPT_BLOCKS = 128;

/**
 * A bitmap of frames; the pages of the set bits follow each other in the file. It keeps one counter for each 4 KiB of
 * bitmap, worked out up to the highest frame that was asked for: 64 GiB of memory need 512 of them. The bits stay in
 * the file, and the last used 512 KiB in memory.
 */
export class BitmapIndex implements PageIndex {
  readonly #source: ByteSource;
  readonly #offset: number;
  readonly #bits: number;
  /** Set bits before each block, of the first {@link #counted} blocks and the one behind them. */
  readonly #before: Float64Array;
  #counted = 0;
  readonly #blocks = new PageCache(KEPT_BLOCKS);

  /** `bits` bits lie at `offset`; they are all inside the source, which the caller has checked. */
  constructor(source: ByteSource, offset: number, bits: number) {
    this.#source = source;
    this.#offset = offset;
    this.#bits = bits;
    this.#before = new Float64Array(Math.ceil(bits / 8 / BLOCK_BYTES) + 1);
  }

  /** Counts the whole bitmap when it is first asked for. */
  get pageCount(): number {
    const blocks = this.#before.length - 1;
    this.#countBefore(blocks);
    return this.#before[blocks] ?? 0;
  }

  positionOf(frame: number): number {
    if (frame < 0 || frame >= this.#bits) return -1;
    const block = Math.floor(frame / (BLOCK_BYTES * 8));
    const bytes = this.#block(block);
    const bit = frame - block * BLOCK_BYTES * 8;
    if (((bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return -1;
    this.#countBefore(block);
    return (this.#before[block] ?? 0) + countBits(bytes, 0, bit);
  }

  /** Sees to it that the set bits before a block are known. */
  #countBefore(block: number): void {
    const end = Math.ceil(this.#bits / 8);
    while (this.#counted < block) {
      const at = this.#counted * BLOCK_BYTES;
      const piece = this.#source.read(this.#offset + at, Math.min(PIECE_BYTES, end - at));
      for (let start = 0; start < PIECE_BYTES && at + start < end; start += BLOCK_BYTES) {
        const bits = Math.min(BLOCK_BYTES * 8, this.#bits - (at + start) * 8);
        const set = start < piece.length ? countBits(piece, start, bits) : 0;
        this.#before[this.#counted + 1] = (this.#before[this.#counted] ?? 0) + set;
        this.#counted++;
      }
    }
  }

  #block(block: number): Uint8Array {
    const kept = this.#blocks.get(block);
    if (kept !== undefined) return kept;
    const at = block * BLOCK_BYTES;
    const bytes = this.#source.read(
      this.#offset + at,
      Math.min(BLOCK_BYTES, Math.ceil(this.#bits / 8) - at),
    );
    this.#blocks.set(block, bytes);
    return bytes;
  }
}

/** Set bits among the first `bits` bits from byte `start` on. */
function countBits(bytes: Uint8Array, start: number, bits: number): number {
  const words = bits >>> 5;
  let count = countWords(wordsOf(bytes, start, words));
  let rest = bits & 31;
  for (let at = start + words * 4; rest > 0; rest -= 8, at++) {
    count += countWord((bytes[at] ?? 0) & (rest >= 8 ? 0xFF : (1 << rest) - 1));
  }
  return count;
}

/** The bytes as 32-bit words, copied when they do not begin at a word of their buffer. */
function wordsOf(bytes: Uint8Array, start: number, words: number): Uint32Array {
  const at = bytes.byteOffset + start;
  if (at % 4 === 0 && start + words * 4 <= bytes.length) return new Uint32Array(bytes.buffer, at, words);
  const copy = new Uint8Array(words * 4);
  copy.set(bytes.subarray(start, start + words * 4));
  return new Uint32Array(copy.buffer);
}

/** Memory comes in long stretches, so most words of a bitmap are all ones or all zeros. */
function countWords(words: Uint32Array): number {
  let count = 0;
  for (const word of words) {
    if (word === 0xFFFF_FFFF) count += 32;
    else if (word !== 0) count += countWord(word);
  }
  return count;
}

function countWord(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0F0F0F0F, 0x01010101) >>> 24;
}
