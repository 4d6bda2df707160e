/** LZO1X, as kdump pages are packed with it. */

/** What the instruction before left behind: nothing, one to three literals, or a long run of them. */
const LONG_RUN = 4;
/** Distances of this kind begin here; exactly this one ends the stream. */
const FAR = 0x4000;

/** Unpacks one stream that must give exactly `size` bytes; null when it is damaged. */
export function unpackLzo(packed: Uint8Array, size: number): Uint8Array | null {
  return new LzoStream(packed, size).unpack();
}

class LzoStream {
  readonly #packed: Uint8Array;
  readonly #out: Uint8Array;
  #at = 0;
  #done = 0;
  #failed = false;

  constructor(packed: Uint8Array, size: number) {
    this.#packed = packed;
    this.#out = new Uint8Array(size);
  }

  unpack(): Uint8Array | null {
    let state = 0;
    const first = this.#packed[0] ?? 0;
    if (first > 17) {
      this.#at = 1;
      this.#literals(first - 17);
      state = first - 17 < LONG_RUN ? first - 17 : LONG_RUN;
    }
    while (!this.#failed) {
      const code = this.#byte();
      if (code < 16 && state === 0) {
        this.#literals(code === 0 ? this.#longLength(15) + 3 : code + 3);
        state = LONG_RUN;
        continue;
      }
      const match = this.#match(code, state);
      if (match === null) break;
      this.#copy(match.distance, match.length);
      this.#literals(match.literals);
      state = match.literals;
    }
    return !this.#failed && this.#done === this.#out.length ? this.#out : null;
  }

  /** Distance, length and the number of literals behind it; null at the end of the stream. */
  #match(code: number, state: number): { distance: number; length: number; literals: number } | null {
    if (code >= 64) {
      const distance = 1 + ((code >> 2) & 7) + (this.#byte() << 3);
      return { distance, length: (code >> 5) + 1, literals: code & 3 };
    }
    if (code >= 32) {
      const length = ((code & 31) === 0 ? this.#longLength(31) : code & 31) + 2;
      const low = this.#byte();
      return { distance: 1 + (low >> 2) + (this.#byte() << 6), length, literals: low & 3 };
    }
    if (code >= 16) {
      const length = ((code & 7) === 0 ? this.#longLength(7) : code & 7) + 2;
      const low = this.#byte();
      const distance = FAR + ((code & 8) << 11) + (low >> 2) + (this.#byte() << 6);
      return distance === FAR ? null : { distance, length, literals: low & 3 };
    }
    const distance = 1 + (code >> 2) + (this.#byte() << 2);
    return state === LONG_RUN
      ? { distance: distance + 2048, length: 3, literals: code & 3 }
      : { distance, length: 2, literals: code & 3 };
  }

  #byte(): number {
    const byte = this.#packed[this.#at++];
    if (byte === undefined) this.#failed = true;
    return byte ?? 0;
  }

  #longLength(base: number): number {
    let length = base;
    for (let byte = this.#byte(); !this.#failed; byte = this.#byte()) {
      if (byte !== 0) return length + byte;
      length += 255;
    }
    return length;
  }

  #literals(count: number): void {
    if (count > this.#packed.length - this.#at || count > this.#out.length - this.#done) this.#failed = true;
    if (this.#failed) return;
    this.#out.set(this.#packed.subarray(this.#at, this.#at + count), this.#done);
    this.#at += count;
    this.#done += count;
  }

  #copy(distance: number, length: number): void {
    if (distance > this.#done || length > this.#out.length - this.#done) this.#failed = true;
    if (this.#failed) return;
    for (let left = length; left > 0; left--, this.#done++) {
      this.#out[this.#done] = this.#out[this.#done - distance] ?? 0;
    }
  }
}
