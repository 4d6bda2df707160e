import assert from "node:assert/strict";
import fc from "fast-check";
import { beginningOf, joinBytes } from "../../../src/base/byte_search.ts";

const few = fc.uint8Array({ max: 2, maxLength: 12 });

Deno.test("a mark is found where it first stands whole, or where the end cuts it off", () => {
  fc.assert(fc.property(fc.uint8Array({ max: 2, minLength: 1, maxLength: 4 }), few, (mark, bytes) => {
    const at = beginningOf(mark, bytes);
    const fits = (start: number): boolean =>
      bytes.subarray(start, start + mark.length).every((byte, index) => byte === mark[index]);
    const expected = Array.from(bytes.keys()).find((start) => fits(start));
    assert.equal(at, expected ?? bytes.length);
  }));
});

Deno.test("two pieces follow each other", () => {
  fc.assert(fc.property(few, few, (first, second) => {
    assert.deepEqual([...joinBytes(first, second)], [...first, ...second]);
  }));
});
