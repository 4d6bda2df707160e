/** Packs pages in the simplest way that each format allows, for tests. */

import { joinBytes } from "./dump_writer.ts";

/** Raw snappy: the length, then literals of at most 60 bytes; a run of one byte becomes copies. */
export function literalSnappy(page: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [varint(page.length)];
  for (let at = 0; at < page.length;) {
    const run = at === 0 ? 0 : runAt(page, at, 64);
    if (run >= 4) {
      // A copy of distance one with a two-byte distance.
      parts.push(Uint8Array.of(((run - 1) << 2) | 2, 1, 0));
      at += run;
      continue;
    }
    const length = Math.min(60, page.length - at, Math.max(1, nextRun(page, at) - at));
    parts.push(Uint8Array.of((length - 1) << 2), page.subarray(at, at + length));
    at += length;
  }
  return joinBytes(...parts);
}

/** LZO1X: a page of one byte as four literals and a long match, any other as one long run of literals. */
export function lzoOf(page: Uint8Array): Uint8Array {
  const end = Uint8Array.of(0x11, 0, 0);
  if (page.every((byte) => byte === page[0])) {
    return joinBytes(
      Uint8Array.of(17 + 4),
      page.subarray(0, 4),
      Uint8Array.of(0x20),
      longLength(page.length - 4 - 2 - 31),
      Uint8Array.of(0, 0),
      end,
    );
  }
  return joinBytes(Uint8Array.of(0), longLength(page.length - 3 - 15), page, end);
}

/** Zeros for each 255, then the rest, which is not zero. */
function longLength(length: number): Uint8Array {
  const zeros = Math.ceil(length / 255) - 1;
  return joinBytes(new Uint8Array(zeros), Uint8Array.of(length - 255 * zeros));
}

function varint(value: number): Uint8Array {
  return Uint8Array.of((value & 0x7F) | 0x80, value >> 7);
}

/** How many bytes from `at` on equal the one before. */
function runAt(page: Uint8Array, at: number, limit: number): number {
  let length = 0;
  while (length < limit && at + length < page.length && page[at + length] === page[at - 1]) length++;
  return length;
}

function nextRun(page: Uint8Array, at: number): number {
  for (let next = at + 1; next < page.length; next++) if (runAt(page, next, 4) >= 4) return next;
  return page.length;
}
