import assert from "node:assert/strict";
import fc from "fast-check";
import { newMark } from "../../../src/guest/posix/marked_program.ts";
import { MarkedStream } from "../../../src/guest/posix/marked_stream.ts";

const encoder = new TextEncoder();

async function follow(
  mark: string,
  parts: readonly Uint8Array[],
): Promise<{ stream: MarkedStream; own: Uint8Array }> {
  const taken: number[] = [];
  const stream = new MarkedStream(mark, (bytes) => Promise.resolve(void taken.push(...bytes)));
  for (const part of parts) await stream.take(part);
  await stream.end();
  return { stream, own: Uint8Array.from(taken) };
}

Deno.test("whatever a program writes, and however it is cut, only its bytes come out", async () => {
  const mark = "\x1eMARK";
  // Bytes that look like beginnings of the mark are the hard ones.
  const byte = fc.oneof(fc.constantFrom(...encoder.encode(mark)), fc.integer({ min: 0, max: 255 }));
  const bytes = fc.uint8Array({ maxLength: 40 }).chain((some) =>
    fc.array(byte, { maxLength: 40 }).map((more) => Uint8Array.from([...some, ...more]))
  ).filter((all) => !new TextDecoder("latin1").decode(all).includes(mark));
  await fc.assert(
    fc.asyncProperty(bytes, bytes, fc.array(fc.nat(30), { maxLength: 12 }), async (noise, own, cuts) => {
      const whole = Uint8Array.from([
        ...noise.filter((value) => value !== 0x1e),
        ...encoder.encode(`${mark}>42\n`),
        ...own,
        ...encoder.encode(`${mark}<7\n`),
        ...encoder.encode("a daemon goes on"),
      ]);
      const parts: Uint8Array[] = [];
      let at = 0;
      for (const cut of cuts) {
        parts.push(whole.subarray(at, at + cut));
        at = Math.min(whole.length, at + cut);
      }
      parts.push(whole.subarray(at));
      const { stream, own: got } = await follow(mark, parts);
      assert.deepEqual([stream.begun, stream.ended], ["42", "7"]);
      assert.deepEqual(got, own);
    }),
  );
});

Deno.test("what comes before the program is kept aside, and a reason not to begin is told", async () => {
  const mark = newMark();
  const { stream, own } = await follow(mark, [encoder.encode(`Welcome to this host\r\n${mark}!cwd\n`)]);
  assert.deepEqual([stream.prelude, stream.failed, stream.begun], ["Welcome to this host", "cwd", undefined]);
  assert.equal(own.length, 0);
});
