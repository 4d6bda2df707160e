/** A source of bytes that counts what is asked of it, so that bounds are tested without a watch. */

import type { ByteSource } from "../../src/dump/bytes.ts";

/** A file of `size` bytes that begins with `head` and is zero behind it. */
export class CountingSource implements ByteSource {
  readonly size: number;
  reads = 0;
  bytesRead = 0;
  readonly #head: Uint8Array;

  constructor(head: Uint8Array, size: number = head.length) {
    this.#head = head;
    this.size = size;
  }

  read(offset: number, length: number): Uint8Array {
    const there = Math.max(0, Math.min(length, this.size - offset));
    this.reads++;
    this.bytesRead += there;
    const bytes = new Uint8Array(there);
    bytes.set(this.#head.subarray(offset, offset + there));
    return bytes;
  }
}
