/** Taking our own markers out of a program's bytes again. */

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
    let rest = join(this.#held, bytes);
    let own: Uint8Array = new Uint8Array(0);
    for (;;) {
      const [marker] = this.#expected;
      const start = marker === undefined ? rest.length : beginningOf(marker, rest);
      own = join(own, rest.subarray(0, start));
      rest = rest.subarray(start);
      if (marker === undefined || rest.length < marker.length) break;
      this.#expected.shift();
      rest = rest.subarray(marker.length);
    }
    this.#held = rest;
    return own;
  }
}

/** Where a marker begins in some bytes, whole or cut off by their end; their length when it does not. */
function beginningOf(marker: Uint8Array, bytes: Uint8Array): number {
  const [first = 0] = marker;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    const length = Math.min(marker.length, bytes.length - at);
    let same = 1;
    while (same < length && bytes[at + same] === marker[same]) same++;
    if (same === length) return at;
  }
  return bytes.length;
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  if (second.length === 0) return first;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
