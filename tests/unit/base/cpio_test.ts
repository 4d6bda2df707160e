import assert from "node:assert/strict";
import fc from "fast-check";
import { CPIO_FILE, CPIO_FOLDER, cpioHeader, cpioPadding, cpioTrailer } from "../../../src/base/cpio.ts";

/** Reads an archive by the description of the format, apart from how it is written. */
function readArchive(bytes: Uint8Array): { path: string; mode: number; text: string }[] {
  const ascii = new TextDecoder();
  const entries: { path: string; mode: number; text: string }[] = [];
  for (let at = 0;;) {
    assert.equal(ascii.decode(bytes.subarray(at, at + 6)), "070701");
    const field = (index: number): number =>
      parseInt(ascii.decode(bytes.subarray(at + 6 + index * 8, at + 14 + index * 8)), 16);
    const [mode, size, nameSize] = [field(1), field(6), field(11)];
    const name = bytes.subarray(at + 110, at + 110 + nameSize);
    assert.equal(name.at(-1), 0, "a name ends with a zero byte");
    const path = ascii.decode(name.subarray(0, -1));
    const start = Math.ceil((at + 110 + nameSize) / 4) * 4;
    if (path === "TRAILER!!!") return entries;
    entries.push({ path, mode, text: ascii.decode(bytes.subarray(start, start + size)) });
    at = Math.ceil((start + size) / 4) * 4;
  }
}

Deno.test("an archive is read back entry by entry, whatever the lengths", () => {
  const entry = fc.record({
    path: fc.stringMatching(/^[a-zé][a-zé/]{0,20}[a-z]$/),
    text: fc.string({ maxLength: 20 }),
  });
  fc.assert(fc.property(fc.array(entry, { maxLength: 5 }), (files) => {
    const parts = files.flatMap(({ path, text }, index) => {
      const content = new TextEncoder().encode(text);
      const header = cpioHeader({ path, mode: CPIO_FILE, size_bytes: content.length }, index + 1);
      return [header, content, new Uint8Array(cpioPadding(content.length))];
    });
    const whole = new Uint8Array([...parts, cpioTrailer()].flatMap((part) => [...part]));
    const expected = files.map(({ path, text }) => ({
      path,
      mode: CPIO_FILE,
      text: new TextDecoder().decode(new TextEncoder().encode(text)),
    }));
    assert.deepEqual(readArchive(whole), expected);
  }));
});

Deno.test("a folder says that it is one", () => {
  const header = cpioHeader({ path: "lib/modules", mode: CPIO_FOLDER, size_bytes: 0 }, 1);
  assert.match(new TextDecoder().decode(header), /^070701(00000001)(000041ED)0{16}00000002/);
  assert.equal(header.length % 4, 0);
});
