/** Raw snappy, as kdump pages are packed with it. */

const LONGEST_VARINT = 5;

/** Unpacks one block that must give exactly `size` bytes; null when it is damaged. */
export function unpackSnappy(packed: Uint8Array, size: number): Uint8Array | null {
  let at = 0;
  let claimed = 0;
  for (let shift = 0;; shift += 7) {
    const byte = packed[at++];
    if (byte === undefined || at > LONGEST_VARINT) return null;
    claimed += (byte & 0x7F) * 2 ** shift;
    if (byte < 0x80) break;
  }
  if (claimed !== size) return null;
  const out = new Uint8Array(size);
  let done = 0;
  while (at < packed.length) {
    const tag = packed[at++] ?? 0;
    if ((tag & 3) === 0) {
      const extra = Math.max(0, (tag >> 2) - 59);
      const length = 1 + (extra === 0 ? tag >> 2 : littleEndian(packed, at, extra));
      at += extra;
      if (at + length > packed.length || done + length > size) return null;
      out.set(packed.subarray(at, at + length), done);
      at += length;
      done += length;
      continue;
    }
    const width = COPY_WIDTHS[tag & 3] ?? 0;
    const length = (tag & 3) === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    const high = (tag & 3) === 1 ? (tag >> 5) << 8 : 0;
    const distance = high + littleEndian(packed, at, width);
    at += width;
    if (at > packed.length || distance === 0 || distance > done || done + length > size) return null;
    for (let left = length; left > 0; left--, done++) out[done] = out[done - distance] ?? 0;
  }
  return done === size ? out : null;
}

/** Bytes of the distance of each kind of copy. */
const COPY_WIDTHS = [0, 1, 2, 4] as const;

function littleEndian(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let index = 0; index < width; index++) value += (bytes[at + index] ?? 0) * 2 ** (8 * index);
  return value;
}
