/** Bits as LZX keeps them: in 16-bit words, the first byte of each the lower one, from the highest bit down. */

/** Reads bits of one block. Past the end come zeros, which the caller bounds by what it has still to give. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #bits = 0;
  #count = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Whether more was read than there is. */
  get isPastEnd(): boolean {
    return this.#at - (this.#count >> 3) > this.#bytes.length;
  }

  /** The next bits, at most 16, without taking them. */
  peek(count: number): number {
    if (this.#count < count) this.#fill();
    return (this.#bits >>> (this.#count - count)) & ((1 << count) - 1);
  }

  skip(count: number): void {
    if (this.#count < count) this.#fill();
    this.#count -= count;
    this.#bits &= (1 << this.#count) - 1;
  }

  /** The next bits, at most 32. */
  read(count: number): number {
    if (count > 16) {
      const high = this.read(count - 16);
      return high * 0x1_0000 + this.read(16);
    }
    const value = count === 0 ? 0 : this.peek(count);
    this.skip(count);
    return value;
  }

  /** Goes on at a word: the next one, or the one after 16 bits of padding when it stands at one already. */
  alignForBytes(): void {
    if (this.#count === 0) this.#at += 2;
    else if (this.#count > 16) this.#at -= 2;
    this.#count = 0;
    this.#bits = 0;
  }

  /** Bytes as they stand; fewer at the end. Only after {@link alignForBytes}. */
  bytes(length: number): Uint8Array {
    const piece = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return piece;
  }

  #fill(): void {
    const word = (this.#bytes[this.#at] ?? 0) | ((this.#bytes[this.#at + 1] ?? 0) << 8);
    this.#at += 2;
    // Never more than 15 bits stand before a fill of 16.
    this.#bits = ((this.#bits << 16) | word) >>> 0;
    this.#count += 16;
  }
}
