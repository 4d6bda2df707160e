/** Reading the pictures that QEMU writes: binary portable pixmaps, `P6 WIDTH HEIGHT 255` and three bytes a pixel. */

import { HvError } from "../../../base/errors.ts";
import type { Picture } from "../../../base/png.ts";

const HEADER_LIMIT_BYTES = 64;

/** The picture in a file's bytes. Throws `hv.job_failed` when they are none. */
export function readPortablePixmap(bytes: Uint8Array): Picture {
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, HEADER_LIMIT_BYTES));
  const header = /^P6\s+(\d{1,5})\s+(\d{1,5})\s+255\s/.exec(text);
  const [whole = "", width, height] = header ?? [];
  const picture = {
    width: Number(width),
    height: Number(height),
    rgb: bytes.subarray(whole.length),
  };
  if (header !== null && picture.rgb.length === picture.width * picture.height * 3) return picture;
  throw new HvError("hv.job_failed", `QEMU wrote a screenshot of ${bytes.length} bytes that is no picture`, {
    hint: "Try again",
    context: { size_bytes: bytes.length, begins: text.slice(0, 16) },
  });
}
