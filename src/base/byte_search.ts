/** Looking for a mark in a stream of bytes that comes in pieces. */

/** Where a mark begins in some bytes, whole or cut off by their end; their length when it does not. */
export function beginningOf(mark: Uint8Array, bytes: Uint8Array): number {
  const [first = 0] = mark;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    const length = Math.min(mark.length, bytes.length - at);
    let same = 1;
    while (same < length && bytes[at + same] === mark[same]) same++;
    if (same === length) return at;
  }
  return bytes.length;
}

/** Two pieces as one. */
export function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  if (second.length === 0) return first;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
