/** Reading PNG files by another way than the writer's: chunks, Deno's own inflate, and a check of each checksum. */

import assert from "node:assert/strict";
import { crc32, inflateSync } from "node:zlib";

/** The picture in a file of eight-bit truecolour without filters. */
export function readPng(bytes: Uint8Array): { width: number; height: number; rgb: Uint8Array } {
  assert.deepEqual([...bytes.subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const data: Uint8Array[] = [];
  let [width, height] = [0, 0];
  for (let at = 8; at < bytes.length;) {
    const length = view.getUint32(at);
    const kind = new TextDecoder().decode(bytes.subarray(at + 4, at + 8));
    assert.equal(view.getUint32(at + 8 + length), crc32(bytes.subarray(at + 4, at + 8 + length)), kind);
    if (kind === "IHDR") {
      [width, height] = [view.getUint32(at + 8), view.getUint32(at + 12)];
      assert.deepEqual([...bytes.subarray(at + 16, at + 21)], [8, 2, 0, 0, 0]);
    }
    if (kind === "IDAT") data.push(bytes.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const rows = inflateSync(Uint8Array.from(data.flatMap((part) => [...part])));
  assert.equal(rows.length, (width * 3 + 1) * height);
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    const start = y * (width * 3 + 1);
    assert.equal(rows[start], 0, "no filter");
    rgb.set(rows.subarray(start + 1, start + 1 + width * 3), y * width * 3);
  }
  return { width, height, rgb };
}
