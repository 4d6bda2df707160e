/** Pictures as PNG files (W3C, "Portable Network Graphics", third edition). */

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const BITS_PER_CHANNEL = 8;
const TRUECOLOUR = 2;
const CHANNELS = 3;

/** A picture without transparency, three bytes (red, green, blue) for each pixel, from the top left row by row. */
export interface Picture {
  width: number;
  height: number;
  rgb: Uint8Array;
}

/** The picture as a file. Throws `RangeError` when its bytes are not as many as its size says. */
export async function encodePng({ width, height, rgb }: Picture): Promise<Uint8Array> {
  if (rgb.length !== width * height * CHANNELS) {
    throw new RangeError(`A picture of ${width}x${height} pixels has ${rgb.length} bytes`);
  }
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([BITS_PER_CHANNEL, TRUECOLOUR], 8);
  const parts = [
    Uint8Array.from(SIGNATURE),
    chunk("IHDR", header),
    chunk("IDAT", await deflate(filtered(width, height, rgb))),
    chunk("IEND", new Uint8Array(0)),
  ];
  return joined(parts);
}

/** Each row behind the number of its filter, which is none: screens repeat themselves exactly. */
function filtered(width: number, height: number, rgb: Uint8Array): Uint8Array<ArrayBuffer> {
  const row = width * CHANNELS;
  const rows = new Uint8Array((row + 1) * height);
  for (let y = 0; y < height; y++) rows.set(rgb.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  return rows;
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function chunk(kind: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(kind), 4);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, crc32(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The reversed polynomial of ISO 3309. */
const POLYNOMIAL = 0xedb88320;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? POLYNOMIAL ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (CRC_TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}
