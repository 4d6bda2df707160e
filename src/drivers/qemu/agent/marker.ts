/** Taking our own markers out of a program's bytes again. */

import { beginningOf, joinBytes } from "../../../base/byte_search.ts";

/** Random bytes at a marker's beginning: enough that no program writes them by chance. */
const RANDOM_BYTES = 48;

/** A new marker of at least 48 bytes. */
export function newMarker(length: number = RANDOM_BYTES): Uint8Array {
  const marker = new Uint8Array(length);
  crypto.getRandomValues(marker.subarray(0, RANDOM_BYTES));
  return marker;
}

/** Follows a stream into which markers were put, and gives back what is not ours. */
export class MarkerFilter {
  readonly #expected: Uint8Array[] = [];
  /** The beginning of the next marker, as it seems so far. */
  #held: Uint8Array = new Uint8Array(0);

  /** Says that a marker was put behind all that is in the stream now. */
  expect(marker: Uint8Array): void {
    this.#expected.push(marker);
  }

  /** Whether a marker has yet to come out. */
  get waiting(): boolean {
    return this.#expected.length > 0;
  }

  /** How many bytes are sure to be in the stream still: what is missing of the last marker. */
  get sure(): number {
    const last = this.#expected.at(-1);
    if (last === undefined) return 0;
    return last.length - (this.#expected.length === 1 ? this.#held.length : 0);
  }

  /** Takes what came out, and gives the program's part of it. */
  take(bytes: Uint8Array): Uint8Array {
    let rest = joinBytes(this.#held, bytes);
    let own: Uint8Array = new Uint8Array(0);
    for (;;) {
      const [marker] = this.#expected;
      const start = marker === undefined ? rest.length : beginningOf(marker, rest);
      own = joinBytes(own, rest.subarray(0, start));
      rest = rest.subarray(start);
      if (marker === undefined || rest.length < marker.length) break;
      this.#expected.shift();
      rest = rest.subarray(marker.length);
    }
    this.#held = rest;
    return own;
  }
}
