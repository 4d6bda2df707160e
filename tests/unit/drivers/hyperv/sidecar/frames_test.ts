import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Frame,
  FrameReader,
  writeCancel,
  writeRequest,
} from "../../../../../src/drivers/hyperv/sidecar/frames.ts";

const ID = "4c805c52-e71f-4aa9-beff-b3243286b033";
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("a frame is found whatever is printed around it", () => {
  const noise: string[] = [];
  const reader = new FrameReader((line) => noise.push(line));
  const text =
    `\uFEFFbanner\n{"id":1,"ok":true}\nhalf a line\n#hvlab ${ID} {"kind":"result","value":{"a":1}}\n#hvlab 1 {}\n`;
  assert.deepEqual(reader.push(bytes(text)), [{ id: ID, kind: "result", value: { a: 1 } }]);
  assert.deepEqual(noise, ["\uFEFFbanner", '{"id":1,"ok":true}', "half a line", "#hvlab 1 {}"]);
});

Deno.test("frames come whole however the bytes are cut", () => {
  const frames: Frame[] = [
    { id: ID, kind: "begin" },
    { id: ID, kind: "progress", activity: "merging – 😀", percent: 40 },
    { id: ID, kind: "result", value: "тест" },
    { id: ID, kind: "error", phase: "run", error: { message: "a\nb" } },
    { id: ID, kind: "stopped", reason: "" },
  ];
  const text = frames.map(({ id, ...body }) => `\n#hvlab ${id} ${JSON.stringify(body)}\n`).join("noise");
  const whole = bytes(text);
  fc.assert(fc.property(fc.array(fc.nat(whole.length), { maxLength: 12 }), (cuts) => {
    const reader = new FrameReader();
    const places = [0, ...cuts.sort((one, other) => one - other), whole.length];
    const found = places.slice(1).flatMap((end, at) => reader.push(whole.subarray(places[at], end)));
    assert.deepEqual(found, frames);
  }));
});

Deno.test("a marked line that is no frame is broken, not ignored", () => {
  const reader = new FrameReader();
  for (const body of ["{", "[]", "null", '{"kind":"else"}']) {
    assert.deepEqual(reader.push(bytes(`#hvlab ${ID} ${body}\n`)), [{ id: ID, kind: "broken" }]);
  }
});

Deno.test("no bytes make the reader fail", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (any) => {
    new FrameReader().push(any);
  }));
});

Deno.test("a request is one line in which texts bear a mark", () => {
  const args = { vm: "2026-01-01T00:00:00Z", name: "a\nb", count: 2, on: true, none: null, all: ["x", ""] };
  const line = new TextDecoder().decode(writeRequest(ID, "get_machine", args));
  assert.equal(line.split("\n").length, 2);
  const [id, call, ...json] = line.split(" ");
  assert.deepEqual([id, call, JSON.parse(json.join(" "))], [ID, "get_machine", {
    vm: "=2026-01-01T00:00:00Z",
    name: "=a\nb",
    count: 2,
    on: true,
    none: null,
    all: ["=x", "="],
  }]);
  assert.equal(new TextDecoder().decode(writeRequest(ID, "probe", {})), `${ID} probe {}\n`);
  assert.equal(new TextDecoder().decode(writeCancel(ID)), `${ID}\n`);
});
