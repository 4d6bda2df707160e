import assert from "node:assert/strict";
import fc from "fast-check";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { BitmapIndex, RunIndex } from "../../../../src/dump/memory/page_index.ts";

Deno.test("runs need not be sorted, and their pages follow the order of the list", () => {
  const index = new RunIndex([{ first: 10, count: 2 }, { first: 5, count: 1 }, { first: 0, count: 1 }]);
  assert.equal(index.pageCount, 4);
  assert.deepEqual([0, 1, 5, 6, 10, 11, 12].map((frame) => index.positionOf(frame)), [
    3,
    -1,
    2,
    -1,
    0,
    1,
    -1,
  ]);
});

Deno.test("the first of two runs that share frames counts", () => {
  const index = new RunIndex([{ first: 5, count: 2 }, { first: 6, count: 2 }]);
  assert.deepEqual([4, 5, 6, 7, 8].map((frame) => index.positionOf(frame)), [-1, 0, 1, 3, -1]);
});

Deno.test("runs of absurd length do not overflow", () => {
  const index = new RunIndex([{ first: 3, count: 2 ** 40 }, { first: 2 ** 41, count: 2 ** 53 }]);
  assert.equal(index.positionOf(2 ** 40), 2 ** 40 - 3);
  assert.equal(index.pageCount, Number.MAX_SAFE_INTEGER);
});

Deno.test("a run index finds what a search through the list finds", () => {
  const run = fc.record({ first: fc.nat(60), count: fc.nat(12) });
  fc.assert(fc.property(fc.array(run, { maxLength: 8 }), (runs) => {
    const index = new RunIndex(runs);
    for (let frame = 0; frame < 80; frame++) {
      let position = 0;
      let expected = -1;
      for (const { first, count } of runs) {
        if (expected < 0 && frame >= first && frame < first + count) expected = position + frame - first;
        position += count;
      }
      assert.equal(index.positionOf(frame), expected);
    }
  }));
});

Deno.test("a bitmap counts the set bits before a frame, and spare bits of the last byte are no pages", () => {
  const index = new BitmapIndex(new MemorySource(Uint8Array.of(0xEE, 0b0000_0111, 0b1111_0101)), 1, 13);
  assert.deepEqual(
    Array.from({ length: 16 }, (_, frame) => index.positionOf(frame)),
    [0, 1, 2, -1, -1, -1, -1, -1, 3, -1, 4, -1, 5, -1, -1, -1],
  );
  assert.equal(index.pageCount, 6);
  assert.equal(index.positionOf(-1), -1);
});

Deno.test("a bitmap index of several blocks finds what counting finds", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 64 }),
      fc.integer({ min: 1, max: 3 }),
      fc.nat(7),
      (seed, blocks, spare) => {
        const bytes = Uint8Array.from(
          { length: blocks * 4096 + seed.length },
          (_, at) => (seed[at % seed.length] ?? 0) ^ ((at * 7) >>> 3),
        );
        const bits = bytes.length * 8 - spare;
        const index = new BitmapIndex(new MemorySource(bytes), 0, bits);
        let position = 0;
        for (let frame = 0; frame < bits; frame++) {
          const set = ((bytes[frame >>> 3] ?? 0) >>> (frame & 7)) & 1;
          if (frame % 997 === 0 || frame > bits - 20) {
            assert.equal(index.positionOf(frame), set ? position : -1, `frame ${frame}`);
          }
          position += set;
        }
        assert.equal(index.pageCount, position);
        assert.equal(index.positionOf(bits), -1);
      },
    ),
    { numRuns: 20 },
  );
});
