/** Cabinets with one file: packed by our own writer, and read by us and by another program. */

import assert from "node:assert/strict";
import * as fc from "fast-check";
import { HvError } from "../../../../src/base/errors.ts";
import { unpackCabinet } from "../../../../src/debugger/symbols/cabinet.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { openInflater } from "../../../../src/host/inflate.ts";
import { type LzxOptions, writeLzxCabinet } from "../../../support/lzx_writer.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

const inflate = await openInflater();

function unpack(cabinet: Uint8Array): Uint8Array {
  const source = unpackCabinet(new MemorySource(cabinet), inflate);
  return source.read(0, source.size);
}

/** Text that repeats itself near and far, with calls in it. */
function sample(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let seed = 1;
  for (let at = 0; at < size; at++) {
    seed = (seed * 1103515245 + 12345) & 0x7FFF_FFFF;
    const choice = (seed >> 16) & 15;
    bytes[at] = choice < 10 && at > 40_000
      ? bytes[at - 40_000] ?? 0
      : choice < 13
      ? (seed >> 8) & 0xFF
      : 0xE8;
  }
  return bytes;
}

const FORMS: LzxOptions[] = [
  { windowBits: 15, parts: ["verbatim"], partBytes: 100_000, translation: 0 },
  { windowBits: 17, parts: ["aligned"], partBytes: 50_001, translation: 0 },
  { windowBits: 21, parts: ["verbatim", "uncompressed", "aligned"], partBytes: 7001, translation: 0 },
  { windowBits: 16, parts: ["uncompressed"], partBytes: 40_003, translation: 0 },
  { windowBits: 18, parts: ["aligned", "verbatim"], partBytes: 33_000, translation: 120_000 },
];

for (const form of FORMS) {
  Deno.test(`LZX with a window of ${form.windowBits} bits, ${form.parts.join(" and ")}, gives the file back`, () => {
    for (const size of [1, 10, 32_768, 120_001]) {
      const plain = sample(size);
      assert.deepEqual(unpack(writeLzxCabinet("a.pdb", plain, form)), plain, `${size} bytes`);
    }
  });
}

Deno.test({
  name: "what we pack another program unpacks",
  ignore: !await isInstalled("cabextract"),
  async fn() {
    await withTemporaryFolder(async (folder) => {
      for (const form of FORMS) {
        const plain = sample(120_001);
        await Deno.writeFile(`${folder}/x.cab`, writeLzxCabinet("a.pdb", plain, form));
        const { code, stderr } = await new Deno.Command("cabextract", {
          args: ["-q", "-d", folder, `${folder}/x.cab`],
          stdin: "null",
          stdout: "null",
        }).output();
        assert.equal(code, 0, new TextDecoder().decode(stderr));
        assert.deepEqual(await Deno.readFile(`${folder}/a.pdb`), plain, JSON.stringify(form));
      }
    });
  },
});

Deno.test("damage gives a coded failure, never another file or an endless loop", () => {
  const cabinet = writeLzxCabinet("a.pdb", sample(40_000), {
    windowBits: 15,
    parts: ["verbatim", "aligned", "uncompressed"],
    partBytes: 9000,
    translation: 0,
  });
  fc.assert(
    fc.property(
      fc.nat(cabinet.length - 1),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      (at, change, cut) => {
        const damaged = cut ? cabinet.slice(0, at) : cabinet.slice();
        if (!cut) damaged[at] = (damaged[at] ?? 0) ^ change;
        try {
          assert(unpack(damaged).length <= 512 * 1024 * 1024);
        } catch (error) {
          assert(error instanceof HvError && error.code === "hv.bad_dump", String(error));
        }
      },
    ),
  );
});

async function isInstalled(program: string): Promise<boolean> {
  try {
    await new Deno.Command(program, { args: ["--version"], stdin: "null", stdout: "null", stderr: "null" })
      .output();
    return true;
  } catch {
    return false;
  }
}
