/** Which pages a bitmap lists, and the how-many-th each of them is. */

const BLOCK_BYTES = 512;
const BITS = Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest > 0; rest >>= 1) count += rest & 1;
  return count;
});

/** A bitmap with the sums that make a rank cheap. */
export class PageRanks {
  /** Set bits. */
  readonly count: number;
  readonly #bitmap: Uint8Array;
  readonly #sums: Uint32Array;

  constructor(bitmap: Uint8Array) {
    this.#bitmap = bitmap;
    this.#sums = new Uint32Array(Math.ceil(bitmap.length / BLOCK_BYTES) + 1);
    let sum = 0;
    for (let at = 0; at < bitmap.length; at++) {
      if (at % BLOCK_BYTES === 0) this.#sums[at / BLOCK_BYTES] = sum;
      sum += BITS[bitmap[at] ?? 0] ?? 0;
    }
    this.count = sum;
  }

  has(page: number): boolean {
    return page >= 0 && (((this.#bitmap[Math.floor(page / 8)] ?? 0) >> (page & 7)) & 1) === 1;
  }

  /** The listed pages, the last one first. */
  *descending(): Iterable<number> {
    for (let byte = this.#bitmap.length - 1; byte >= 0; byte--) {
      if (this.#bitmap[byte] === 0) continue;
      for (let page = byte * 8 + 7; page >= byte * 8; page--) if (this.has(page)) yield page;
    }
  }

  /** Number of listed pages before this one; -1 when it is not listed. */
  rankOf(page: number): number {
    if (!this.has(page)) return -1;
    const byte = Math.floor(page / 8);
    const block = Math.floor(byte / BLOCK_BYTES);
    let rank = this.#sums[block] ?? 0;
    for (let at = block * BLOCK_BYTES; at < byte; at++) rank += BITS[this.#bitmap[at] ?? 0] ?? 0;
    return rank + (BITS[(this.#bitmap[byte] ?? 0) & ((1 << (page & 7)) - 1)] ?? 0);
  }
}
