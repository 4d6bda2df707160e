/** From the picture that Hyper-V gives of a screen to one of ours. */

import { HvError } from "../../../base/errors.ts";
import type { Picture } from "../../../base/png.ts";

/** Some builds put the whole length in front, big-endian (seen on build 26200). */
const PREFIX_BYTES = 4;

/** RGB565, little-endian, from the top left row by row. Throws `hv.job_failed` for bytes that are no such picture. */
export function readScreenImage(width: number, height: number, bytes: Uint8Array): Picture {
  const wanted = width * height * 2;
  const prefix = bytes.length - wanted;
  if (prefix !== 0 && prefix !== PREFIX_BYTES) {
    throw new HvError(
      "hv.job_failed",
      `Hyper-V gave ${bytes.length} bytes for a screen of ${width}x${height} pixels: wanted ${wanted}`,
      { hint: "Try again", context: { width, height, wanted, found: bytes.length } },
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + prefix, wanted);
  const rgb = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const value = view.getUint16(pixel * 2, true);
    rgb[pixel * 3] = widen(value >> 11, 5);
    rgb[pixel * 3 + 1] = widen((value >> 5) & 0x3f, 6);
    rgb[pixel * 3 + 2] = widen(value & 0x1f, 5);
  }
  return { width, height, rgb };
}

/** The highest bits stand in again for the missing ones, so that full stays full. */
function widen(value: number, bits: number): number {
  return (value << (8 - bits)) | (value >> (2 * bits - 8));
}
