/** Writing memory to a file so that pages of zeros become holes. */

import type { FileWriter } from "../../../host/files.ts";

const PAGE_BYTES = 4096;
/** What a pipe gives at once is little beside what a disk takes at once. */
const BLOCK_BYTES = 1024 * 1024;

/** Gathers a stream into blocks and writes them; with `sparse`, pages that hold only zeros are skipped. */
export class SparseWriter {
  readonly #file: Pick<FileWriter, "write" | "skip">;
  readonly #sparse: boolean;
  readonly #block = new Uint8Array(BLOCK_BYTES);
  readonly #words = new Uint32Array(this.#block.buffer);
  #filled = 0;
  #total = 0;

  constructor(file: Pick<FileWriter, "write" | "skip">, sparse: boolean) {
    this.#file = file;
    this.#sparse = sparse;
  }

  /** How many bytes came in so far. */
  get total(): number {
    return this.#total;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#total += bytes.length;
    for (let done = 0; done < bytes.length;) {
      const part = bytes.subarray(done, done + BLOCK_BYTES - this.#filled);
      this.#block.set(part, this.#filled);
      this.#filled += part.length;
      done += part.length;
      if (this.#filled === BLOCK_BYTES) await this.flush();
    }
  }

  /** Writes what was gathered. To be called once more at the end. */
  async flush(): Promise<void> {
    const length = this.#filled;
    this.#filled = 0;
    if (!this.#sparse) return await this.#file.write(this.#block.subarray(0, length));
    let start = 0;
    while (start < length) {
      const isZero = this.#isZero(start, length);
      let end = start;
      while (end < length && this.#isZero(end, length) === isZero) end += PAGE_BYTES;
      end = Math.min(end, length);
      if (isZero) await this.#file.skip(end - start);
      else await this.#file.write(this.#block.subarray(start, end));
      start = end;
    }
  }

  /** A page that is not whole counts as one with content. */
  #isZero(start: number, length: number): boolean {
    if (start + PAGE_BYTES > length) return false;
    for (let word = start / 4; word < (start + PAGE_BYTES) / 4; word++) {
      if (this.#words[word] !== 0) return false;
    }
    return true;
  }
}
