import assert from "node:assert/strict";
import fc from "fast-check";
import { byteLength, cutText } from "../../../src/mcp/cut_text.ts";

Deno.test("a cut text fits inside JSON, keeps head and tail, and counts what is missing", () => {
  fc.assert(fc.property(
    fc.string({ unit: "binary", minLength: 200, maxLength: 2000, size: "max" }),
    fc.integer({ min: 60, max: 800 }),
    (text, limit) => {
      const cut = cutText(text, limit);
      assert.ok(byteLength(JSON.stringify(cut.text)) - 2 <= limit || cut.droppedBytes === byteLength(text));
      if (cut.droppedBytes === 0) return assert.equal(cut.text, text);
      const [head = "", tail = ""] = cut.text.split(`\n[${cut.droppedBytes} bytes left out]\n`);
      assert.ok(text.startsWith(head) && text.endsWith(tail));
      assert.equal(byteLength(head) + byteLength(tail) + cut.droppedBytes, byteLength(text));
    },
  ));
});

Deno.test("no character is cut in half", () => {
  const { text } = cutText("\u{1F600}".repeat(500), 301);
  assert.ok(text.isWellFormed());
  assert.match(text, /^(\u{1F600})+\n\[\d+ bytes left out\]\n(\u{1F600})+$/u);
});

Deno.test("a text that fits stays", () => {
  assert.deepEqual(cutText("héllo", 6), { text: "héllo", droppedBytes: 0 });
});
