import assert from "node:assert/strict";
import fc from "fast-check";
import { type Line, LINE_LIMIT_BYTES, LineSplitter } from "../../../src/mcp/lines.ts";

const encoder = new TextEncoder();

function split(bytes: Uint8Array, cuts: readonly number[] = []): Line[] {
  const splitter = new LineSplitter();
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return edges.slice(1).flatMap((edge, index) => splitter.push(bytes.subarray(edges[index], edge)));
}

Deno.test("lines come out whole wherever the reads are cut", () => {
  fc.assert(fc.property(
    fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "))),
    fc.array(fc.nat(), { maxLength: 8 }),
    (texts, cuts) => {
      const bytes = encoder.encode(texts.map((text) => `x${text}\n`).join(""));
      assert.deepEqual(split(bytes, cuts), texts.map((text) => ({ text: `x${text}` })));
    },
  ));
});

Deno.test("a byte order mark is dropped before the first line and nowhere else", () => {
  const bytes = encoder.encode("\uFEFF{}\n\uFEFF{}\n");
  assert.deepEqual(split(bytes, [1, 2]), [{ text: "{}" }, { text: "\uFEFF{}" }]);
});

Deno.test("bytes that are not UTF-8 are said to be so, never replaced", () => {
  assert.deepEqual(split(Uint8Array.of(0x22, 0xff, 0x22, 0x0a, 0x31, 0x0a)), [
    { dropped: "not UTF-8" },
    { text: "1" },
  ]);
});

Deno.test("a line over the limit is dropped as one, and the next is taken", () => {
  const splitter = new LineSplitter();
  const chunk = new Uint8Array(1024 * 1024).fill(0x20);
  const lines: Line[] = [];
  for (let sent = 0; sent < 2 * LINE_LIMIT_BYTES; sent += chunk.length) lines.push(...splitter.push(chunk));
  lines.push(...splitter.push(encoder.encode("\n{}\n")));
  assert.deepEqual(lines, [{ dropped: "too long" }, { text: "{}" }]);
});

Deno.test("a line of exactly the limit is taken", () => {
  const line = new Uint8Array(LINE_LIMIT_BYTES + 1).fill(0x20);
  line[LINE_LIMIT_BYTES] = 0x0a;
  assert.deepEqual(split(line), [{ text: " ".repeat(LINE_LIMIT_BYTES) }]);
});

Deno.test("an unfinished line is kept back", () => {
  assert.deepEqual(split(encoder.encode("1\n2")), [{ text: "1" }]);
});
