import assert from "node:assert/strict";
import fc from "fast-check";
import { BoundedBytes } from "../../../src/base/bounded_bytes.ts";

const parts = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
const limits = fc.record({ head: fc.nat(30), tail: fc.nat(30) });

Deno.test("head and tail are the stream's own, and every byte is counted", () => {
  fc.assert(fc.property(parts, limits, (written, limits) => {
    const bounded = new BoundedBytes(limits);
    for (const part of written) bounded.push(part);
    const whole = written.flatMap((part) => [...part]);
    const { head, tail, dropped } = bounded.parts();
    const tailLength = Math.min(limits.tail, Math.max(0, whole.length - limits.head));
    assert.deepEqual([...head], whole.slice(0, limits.head));
    assert.deepEqual([...tail], whole.slice(whole.length - tailLength));
    assert.equal(head.length + tail.length + dropped, whole.length);
    assert.equal(bounded.total, whole.length);
  }));
});

Deno.test("text that fits comes back unchanged, and anything else with its bytes", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
    const bounded = new BoundedBytes({ head: 30, tail: 30 });
    bounded.push(bytes);
    const { text, base64, dropped } = bounded.toText();
    assert.equal(dropped, 0);
    const back = base64 === undefined ? new TextEncoder().encode(text) : Uint8Array.fromBase64(base64);
    assert.deepEqual(back, bytes);
  }));
});

Deno.test("UTF-8 is cut between characters, wherever the limits fall", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 20, maxLength: 60 }), limits, (text, limits) => {
      const bytes = new TextEncoder().encode(text);
      fc.pre(bytes.length > limits.head + limits.tail);
      const bounded = new BoundedBytes(limits);
      bounded.push(bytes);
      const kept = bounded.toText();
      assert.equal(kept.base64, undefined);
      const [head = "", tail = ""] = kept.text.split(`\n[... ${kept.dropped} bytes are missing here ...]\n`);
      assert.ok(text.startsWith(head));
      assert.ok(text.endsWith(tail));
      assert.equal(new TextEncoder().encode(head + tail).length + kept.dropped, bytes.length);
    }),
  );
});

Deno.test("a byte order mark and a single broken byte are told apart from text", () => {
  const mark = new BoundedBytes({ head: 10, tail: 10 });
  mark.push(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]));
  assert.deepEqual(mark.toText(), { text: "\ufeffa", total: 4, dropped: 0 });
  const broken = new BoundedBytes({ head: 10, tail: 10 });
  broken.push(new Uint8Array([0x61, 0xff]));
  assert.deepEqual(broken.toText(), { text: "a\ufffd", base64: "Yf8=", total: 2, dropped: 0 });
});

Deno.test("memory does not grow with the stream", () => {
  const bounded = new BoundedBytes({ head: 4, tail: 4 });
  const part = new TextEncoder().encode("0123456789".repeat(100));
  for (let round = 0; round < 1000; round++) bounded.push(part);
  const { text, total, dropped } = bounded.toText();
  assert.equal(text, "0123\n[... 999992 bytes are missing here ...]\n6789");
  assert.equal(total, 1_000_000);
  assert.equal(dropped, 999_992);
});
