/** A source of which only so much is read in all, whatever its contents claim. */

import type { ByteSource } from "../bytes.ts";
import { badDump } from "../reasons.ts";

/** Fails with `hv.bad_dump`, reason `read_limit`, where more than the ration is asked for. */
export class RationedSource implements ByteSource {
  readonly size: number;
  readonly #source: ByteSource;
  readonly #ration: number;
  #left: number;

  constructor(source: ByteSource, ration: number) {
    this.size = source.size;
    this.#source = source;
    this.#ration = ration;
    this.#left = ration;
  }

  read(offset: number, length: number): Uint8Array {
    const wanted = Math.max(0, Math.min(length, this.size - offset));
    if (wanted > this.#left) {
      throw badDump(
        "read_limit",
        `Cannot read the dump: more than ${this.#ration} bytes would be read of it`,
        {
          offset,
          expected: this.#left,
          found: wanted,
        },
      );
    }
    this.#left -= wanted;
    return this.#source.read(offset, length);
  }
}
