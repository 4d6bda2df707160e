import assert from "node:assert/strict";
import { readScreenImage } from "../../../../../src/drivers/hyperv/console/screen_image.ts";
import { failureOf } from "../../../../support/failures.ts";

/** Red, green, blue, white in RGB565, little-endian. */
const PIXELS = [0x00, 0xf8, 0xe0, 0x07, 0x1f, 0x00, 0xff, 0xff];
const COLOURS = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];

Deno.test("a screen's pixels become three bytes each, with and without the length in front", () => {
  assert.deepEqual([...readScreenImage(2, 2, Uint8Array.from(PIXELS)).rgb], COLOURS);
  const prefixed = Uint8Array.from([0, 0, 0, 12, ...PIXELS]);
  assert.deepEqual([...readScreenImage(4, 1, prefixed).rgb], COLOURS);
});

Deno.test("bytes that are too few or too many are no screen", async () => {
  for (const length of [0, 7, 9, 13]) {
    const failure = await failureOf(
      "hv.job_failed",
      () => Promise.resolve().then(() => readScreenImage(2, 2, new Uint8Array(length))),
    );
    assert.deepEqual([failure.context.wanted, failure.context.found], [8, length]);
  }
});
