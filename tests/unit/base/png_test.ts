import assert from "node:assert/strict";
import fc from "fast-check";
import { encodePng } from "../../../src/base/png.ts";
import { readPng } from "../../support/read_png.ts";

const pictures = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 20 })).chain((
  [width, height],
) =>
  fc.uint8Array({ minLength: width * height * 3, maxLength: width * height * 3 }).map((rgb) => ({
    width,
    height,
    rgb,
  }))
);

Deno.test("another reader finds the picture that was written", async () => {
  await fc.assert(
    fc.asyncProperty(pictures, async (picture) => {
      assert.deepEqual(readPng(await encodePng(picture)), { ...picture, rgb: new Uint8Array(picture.rgb) });
    }),
    { numRuns: 50 },
  );
});

Deno.test("a picture that has not the bytes of its size is refused", async () => {
  await assert.rejects(encodePng({ width: 2, height: 2, rgb: new Uint8Array(11) }), RangeError);
});
