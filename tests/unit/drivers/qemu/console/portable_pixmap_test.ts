import assert from "node:assert/strict";
import { readPortablePixmap } from "../../../../../src/drivers/qemu/console/portable_pixmap.ts";
import { failureOf } from "../../../../support/failures.ts";

function file(header: string, pixels: number): Uint8Array {
  return Uint8Array.from([...new TextEncoder().encode(header), ...new Uint8Array(pixels).fill(10)]);
}

Deno.test("a picture is what follows its header, even when that looks like white space", () => {
  const { width, height, rgb } = readPortablePixmap(file("P6\n3 2\n255\n", 18));
  assert.deepEqual([width, height, [...rgb]], [3, 2, Array(18).fill(10)]);
});

Deno.test("what is no such picture is refused", async () => {
  for (
    const bytes of [
      file("P6\n3 2\n255\n", 17),
      file("P5\n3 2\n255\n", 6),
      file("", 0),
      file("P6\n3 2\n65535\n", 36),
    ]
  ) {
    await failureOf("hv.job_failed", () => Promise.resolve().then(() => readPortablePixmap(bytes)));
  }
});
