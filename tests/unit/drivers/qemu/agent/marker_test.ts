import assert from "node:assert/strict";
import fc from "fast-check";
import { MarkerFilter, newMarker } from "../../../../../src/drivers/qemu/agent/marker.ts";

Deno.test("markers come out of a stream and everything else stays, however it is cut", () => {
  const data = fc.array(fc.uint8Array({ maxLength: 100 }), { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(data, fc.array(fc.integer({ min: 1, max: 70 })), (parts, cuts) => {
    const filter = new MarkerFilter();
    const stream: number[] = [];
    for (const part of parts) {
      const marker = newMarker();
      filter.expect(marker);
      stream.push(...part, ...marker);
    }
    const own: number[] = [];
    for (let at = 0, cut = 0; at < stream.length; cut++) {
      const length = cuts[cut] ?? 33;
      own.push(...filter.take(new Uint8Array(stream.slice(at, at + length))));
      at += length;
    }
    assert.deepEqual(own, parts.flatMap((part) => [...part]));
    assert.equal(filter.waiting, false);
  }));
});

Deno.test("it never claims more than is inside", () => {
  fc.assert(fc.property(fc.array(fc.nat(200), { minLength: 1, maxLength: 6 }), (lengths) => {
    const filter = new MarkerFilter();
    const inside: number[] = [];
    for (const length of lengths) {
      const marker = newMarker();
      inside.push(...new Uint8Array(length), ...marker);
      filter.expect(marker);
      assert.ok(filter.sure <= inside.length);
      filter.take(new Uint8Array(inside.splice(0, filter.sure)));
    }
    while (filter.waiting) {
      assert.ok(filter.sure > 0 && filter.sure <= inside.length);
      filter.take(new Uint8Array(inside.splice(0, filter.sure)));
    }
    assert.equal(inside.length, 0);
  }));
});

Deno.test("bytes that begin like a marker and are none are given back", () => {
  const filter = new MarkerFilter();
  const marker = newMarker();
  filter.expect(marker);
  const lookalike = marker.slice(0, 20);
  assert.equal(filter.take(lookalike).length, 0);
  assert.deepEqual(filter.take(new Uint8Array([...marker])), lookalike);
  assert.equal(filter.waiting, false);
});
