import assert from "node:assert/strict";
import fc from "fast-check";
import { ProgramStream } from "../../../src/cli/program_output.ts";
import { visibleLines } from "../../../src/base/visible_text.ts";

async function send(chunks: readonly Uint8Array[], isTerminal: boolean): Promise<Uint8Array> {
  const received: number[] = [];
  const output = {
    isTerminal,
    write: (bytes: Uint8Array) => {
      received.push(...bytes);
      return Promise.resolve();
    },
  };
  const stream = new ProgramStream(output, () => Promise.resolve());
  for (const chunk of chunks) await stream.sink(chunk);
  await stream.end();
  return Uint8Array.from(received);
}

Deno.test("a pipe gets a program's bytes as they are", async () => {
  await fc.assert(fc.asyncProperty(fc.array(fc.uint8Array()), async (chunks) => {
    assert.deepEqual(await send(chunks, false), Uint8Array.from(chunks.flatMap((chunk) => [...chunk])));
  }));
});

Deno.test("a terminal gets visible text, however the bytes were cut", async () => {
  const text = "é\r\n🙂\x1b[31m\r\x07\ttest\r";
  const bytes = new TextEncoder().encode(text);
  await fc.assert(fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
    const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
    const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
    assert.equal(new TextDecoder().decode(await send(chunks, true)), visibleLines(text));
  }));
});

Deno.test("what is before a program's output is awaited ahead of each write", async () => {
  const order: string[] = [];
  const output = { isTerminal: false, write: () => Promise.resolve(void order.push("write")) };
  const stream = new ProgramStream(output, () => Promise.resolve(void order.push("before")));
  await stream.sink(new Uint8Array([1]));
  assert.deepEqual(order, ["before", "write"]);
  assert.equal(stream.bytes, 1);
});
