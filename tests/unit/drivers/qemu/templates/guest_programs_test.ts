/** The two small programs of ours that no compiler made. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { stubKernel } from "../../../../../src/drivers/qemu/templates/stub_kernel.ts";
import {
  NOTHING_STARTED,
  SEED_BYTES,
  wakeMessage,
  wakerProgram,
} from "../../../../../src/drivers/qemu/templates/waker.ts";

const canRun = Deno.build.os === "linux" && Deno.build.arch === "x86_64";

const SEED = Uint8Array.from({ length: SEED_BYTES }, (_, index) => index + 1);

Deno.test("the waker's message holds the time to the nanosecond and the seed with its size", () => {
  const message = wakeMessage(1_795_985_935_250.5, SEED);
  assert.ok(message !== undefined);
  const view = new DataView(message.buffer);
  assert.equal(view.getBigInt64(0, true), 1_795_985_935n);
  assert.equal(view.getBigInt64(8, true), 250_500_000n);
  assert.equal(view.getInt32(16, true), SEED_BYTES * 8);
  assert.equal(view.getInt32(20, true), SEED_BYTES);
  assert.deepEqual(message.slice(24, 24 + SEED_BYTES), SEED);
  assert.deepEqual(message.slice(24 + SEED_BYTES), new Uint8Array(16), "nothing to run follows");
});

Deno.test("what is to be run follows as lists of pointers that hold where the waker reads it to", () => {
  fc.assert(fc.property(
    fc.array(word, { minLength: 1, maxLength: 5 }),
    fc.array(word, { minLength: 1, maxLength: 5 }),
    (paths, argv) => {
      const message = wakeMessage(0, SEED, { paths, argv });
      assert.ok(message !== undefined);
      const view = new DataView(message.buffer);
      const start = 104;
      assert.equal(view.getBigUint64(88, true), BigInt(message.length - start));
      assert.deepEqual(listAt(message, start), paths);
      assert.deepEqual(listAt(message, start + Number(view.getBigUint64(96, true)) - 0x600000), argv);
    },
  ));
});

const word = fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !text.includes("\0"));

/** Reads texts through pointers up to a zero. */
function listAt(message: Uint8Array, at: number): string[] {
  const view = new DataView(message.buffer);
  const texts: string[] = [];
  for (let slot = at; view.getBigUint64(slot, true) !== 0n; slot += 8) {
    const begin = 104 + Number(view.getBigUint64(slot, true)) - 0x600000;
    texts.push(
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(message.slice(begin, message.indexOf(0, begin))),
    );
  }
  return texts;
}

Deno.test("more than the waker has room for is no message", () => {
  assert.equal(wakeMessage(0, SEED, { paths: ["/bin/echo"], argv: ["echo", "x".repeat(40_000)] }), undefined);
});

Deno.test({
  name: "the waker is a program that Linux runs, and that says when it was not told everything",
  ignore: !canRun,
  async fn() {
    const path = await Deno.makeTempFile();
    try {
      await Deno.writeFile(path, wakerProgram());
      await Deno.chmod(path, 0o700);
      for (const input of [new Uint8Array(0), new Uint8Array(103)]) {
        const child = new Deno.Command(path, { stdin: "piped" }).spawn();
        const writer = child.stdin.getWriter();
        await writer.write(input);
        await writer.close();
        const { code, signal } = await child.status;
        assert.deepEqual([code, signal], [NOTHING_STARTED, null], `${input.length} bytes`);
      }
    } finally {
      await Deno.remove(path);
    }
  },
});

Deno.test("the stub kernel is an ELF file with the note that makes it a PVH kernel", () => {
  const file = stubKernel();
  const view = new DataView(file.buffer);
  assert.equal(view.getUint32(0), 0x7f454c46);
  const segments = Array.from({ length: view.getUint16(56, true) }, (_, index) => 64 + index * 56);
  const note = segments.find((at) => view.getUint32(at, true) === 4);
  assert.ok(note !== undefined);
  const at = Number(view.getBigUint64(note + 8, true));
  assert.equal(view.getUint32(at + 8, true), 18);
  assert.equal(new TextDecoder().decode(file.slice(at + 12, at + 15)), "Xen");
  const entry = view.getBigUint64(at + 16, true);
  const load = segments.find((segment) => view.getUint32(segment, true) === 1);
  assert.ok(load !== undefined);
  assert.equal(view.getBigUint64(load + 24, true), entry, "the entry is where the code is loaded");
  assert.equal(file[Number(view.getBigUint64(load + 8, true))], 0xf4);
});
