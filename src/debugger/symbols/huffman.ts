/** Canonical Huffman codes. */

import type { BitReader } from "./bit_reader.ts";

const LONGEST = 16;

/** A code that is told by the lengths of its words. */
export class HuffmanCode {
  readonly #longest: number;
  /** By the next bits of the longest word: symbol times 32 plus length. */
  readonly #table: Uint32Array;

  /**
   * Fails with `RangeError` for lengths that no complete code has. No lengths at all make a code that gives nothing.
   */
  constructor(lengths: Uint8Array) {
    let longest = 0;
    for (const length of lengths) longest = Math.max(longest, length);
    if (longest > LONGEST) throw new RangeError(`a word of ${longest} bits`);
    this.#longest = longest;
    this.#table = new Uint32Array(longest === 0 ? 0 : 1 << longest);
    let next = 0;
    for (let length = 1; length <= longest; length++) {
      const width = 1 << (longest - length);
      for (let symbol = 0; symbol < lengths.length; symbol++) {
        if (lengths[symbol] !== length) continue;
        if (next + width > this.#table.length) throw new RangeError("too many words");
        this.#table.fill(symbol * 32 + length, next, next + width);
        next += width;
      }
    }
    if (next !== this.#table.length) throw new RangeError("too few words");
  }

  /** The next symbol. Fails with `RangeError` when the code is empty. */
  read(bits: BitReader): number {
    if (this.#longest === 0) throw new RangeError("a code without words");
    const entry = this.#table[bits.peek(this.#longest)] ?? 0;
    bits.skip(entry & 31);
    return entry >>> 5;
  }
}
