/** Symbol files: made ones, written ones, and damaged ones. */

import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { openDump } from "../../../../src/dump/open.ts";
import { readableName } from "../../../../src/dump/pdb/names.ts";
import { PdbFile } from "../../../../src/dump/pdb/pdb.ts";
import { openImageFile } from "../../../../src/dump/pe/headers.ts";
import { LayeredImage, MemoryImage } from "../../../../src/dump/pe/image.ts";
import { walkStack } from "../../../../src/dump/unwind/walk.ts";
import { hasSample, readSample } from "../../../support/shared_samples.ts";
import { writeSymbols } from "../../../support/symbol_writer.ts";

const EVIL = "dumps/made/symbols/evil.pdb/CFA6BD75D94C334B4C4C44205044422E1/evil.pdb";
const KERNEL = "dumps/made/symbols/ntkrnlmp.pdb/4BD438B933AFB5F14C4C44205044422E1/ntkrnlmp.pdb";
const GUID = Uint8Array.from({ length: 16 }, (_, index) => index + 1);

function opened(name: string): PdbFile {
  return new PdbFile(new MemorySource(readSample(name)));
}

const WRITTEN = {
  guid: GUID,
  age: 7,
  sections: [{ rva: 0x1000, size: 0x2000 }, { rva: 0x4000, size: 0x1000 }],
  publics: [
    { name: "Second", section: 1, offset: 0x200 },
    { name: "First", section: 1, offset: 0x100 },
    { name: "?run@Engine@@QEAAXXZ", section: 2, offset: 0x10 },
    { name: "Absolute", section: 9, offset: 0x10 },
  ],
};

Deno.test("publics: the nearest one before an address in its own section", () => {
  const pdb = new PdbFile(new MemorySource(writeSymbols(WRITTEN)));
  const name = (rva: number) => {
    const symbol = pdb.locate(rva, rva)?.symbol;
    return symbol === undefined ? null : [symbol.name, symbol.displacement];
  };
  assert.equal(pdb.id, "0403020106050807090A0B0C0D0E0F10");
  assert.equal(pdb.age, 7, "the age that images name is that of the DBI stream");
  assert.deepEqual(name(0x1100), ["First", 0]);
  assert.deepEqual(name(0x11FF), ["First", 0xFF]);
  assert.deepEqual(name(0x1200), ["Second", 0]);
  assert.deepEqual(name(0x2FFF), ["Second", 0x1DFF]);
  assert.equal(name(0x1050), null, "before the first one");
  assert.deepEqual(name(0x4010), ["Engine::run", 0]);
  assert.equal(name(0x4000), null, "the section before it is another one");
  assert.equal(name(0x9000), null, "in no section");
  assert.deepEqual([...pdb.findPublics(new Set(["Second", "Absolute", "Nothing"]))], [["Second", 0x1200]]);
  assert.equal(pdb.unwindData, null);
});

Deno.test("a return address behind a function's end belongs to the function that called", () => {
  const pdb = new PdbFile(new MemorySource(writeSymbols(WRITTEN)));
  assert.deepEqual(pdb.locate(0x1200, 0x11FF)?.symbol, { name: "First", displacement: 0x100, source: null });
});

Deno.test("an image that was rearranged after linking is looked up through its address maps", () => {
  const pdb = new PdbFile(
    new MemorySource(writeSymbols({
      ...WRITTEN,
      rearranged: {
        toSource: [[0x1000, 0], [0x5000, 0x1100], [0x5100, 0]],
        fromSource: [[0x1000, 0], [0x1100, 0x5000], [0x1200, 0]],
      },
    })),
  );
  assert.deepEqual(pdb.locate(0x5008, 0x5008)?.symbol, { name: "First", displacement: 8, source: null });
  assert.equal(pdb.locate(0x1100, 0x1100), null, "what was removed has no name");
  assert.deepEqual([...pdb.findPublics(new Set(["First", "Second"]))], [["First", 0x5000]]);
});

Deno.test("names of x86 and C++ are made readable, others stay", () => {
  assert.equal(readableName("_KeBugCheckEx@20", true), "KeBugCheckEx");
  assert.equal(readableName("@fast@8", true), "fast");
  assert.equal(readableName("__chkstk", true), "_chkstk");
  assert.equal(readableName("__chkstk", false), "__chkstk");
  assert.equal(readableName("?handle@Queue@Io@@AEAAJXZ", false), "Io::Queue::handle");
  assert.equal(readableName("??_C@_0BA@ABC@", false), "??_C@_0BA@ABC@");
});

Deno.test({
  name: "functions, lines and inlined functions of a made file",
  ignore: !hasSample(EVIL),
  fn() {
    const pdb = opened(EVIL);
    assert.deepEqual(pdb.locate(0x1033, 0x1032), {
      symbol: { name: "EvilDynamic", displacement: 0x33, source: { file: "evil.c", line: 9 } },
      inlined: [],
    });
    assert.deepEqual(pdb.locate(0x10B9, 0x10B8), {
      symbol: { name: "EvilWorker", displacement: 0x19, source: { file: "evil.c", line: 23 } },
      inlined: [{ name: "EvilInlined", displacement: 0xD, source: { file: "evil.c", line: 19 } }],
    });
    assert.deepEqual(
      [...opened(KERNEL).findPublics(new Set(["KiWaitNever", "KiWaitAlways", "KdpDataBlockEncoded"])).keys()]
        .sort(),
      ["KdpDataBlockEncoded", "KiWaitAlways", "KiWaitNever"],
    );
  },
});

Deno.test({
  name: "a symbol file alone is enough to unwind",
  ignore: !hasSample("dumps/synthetic/triage64.dmp"),
  async fn() {
    const session = openDump(new MemorySource(readSample("dumps/synthetic/triage64.dmp")));
    const store = "dumps/made/symbols";
    const carried = new Map([
      ["evil.sys", `${store}/evil.sys/5F78D1D45000/evil.sys`],
      ["ntoskrnl.exe", `${store}/ntoskrnl.exe/81FAFD7A5000/ntoskrnl.exe`],
    ].map(([name = "", path = ""]) => {
      const file = openImageFile(new MemorySource(readSample(path)));
      assert(file?.headers.exceptions);
      const { rva, size } = file.headers.exceptions;
      const data = file.headers.sections.find((section) => !section.executable);
      assert(data !== undefined);
      const functions = { rva, bytes: file.image.read(rva, size) ?? new Uint8Array(0) };
      const unwind = { rva: data.rva, bytes: file.image.read(data.rva, data.fileSize) ?? new Uint8Array(0) };
      return [name, new PdbFile(new MemorySource(writeSymbols({ ...WRITTEN, functions, unwind })))];
    }));
    const start = session.contexts[0]?.registers;
    assert(start !== undefined);
    const { frames, end } = await walkStack({
      memory: session.memory,
      imageAt: (address) => {
        const module = session.modules.at(address);
        const data = module === null ? undefined : carried.get(module.name)?.unwindData;
        if (module === null || !data) return Promise.resolve(null);
        const bytes = new LayeredImage([new MemoryImage(session.memory, module.base), data.bytes]);
        const spare = new Map<number, Uint8Array>();
        return Promise.resolve({
          base: module.base,
          size: module.size,
          bytes,
          foreign: false,
          functions: data.functions,
          spare,
        });
      },
    }, start);
    assert.equal(end, "bottom");
    assert.equal(frames.length, 12);
    assert.equal(frames.at(-1)?.stackPointer, 0xFFFFD00012345F68n);
  },
});

Deno.test("other forms are refused with their name", () => {
  const refused = (text: string, reason: string, named: RegExp) => {
    const bytes = new Uint8Array(1024);
    bytes.set(new TextEncoder().encode(text));
    assert.throws(
      () => new PdbFile(new MemorySource(bytes)),
      (thrown) =>
        thrown instanceof HvError && thrown.code === "hv.bad_dump" && thrown.context["reason"] === reason &&
        named.test(thrown.message),
      text,
    );
  };
  refused("Microsoft MSFZ Container\r\n\x1AALD\0\0", "unsupported_kind", /MSFZ/);
  refused("Microsoft C/C++ program database 2.00\r\n\x1AJG\0\0", "unsupported_kind", /before version 7/);
  refused("MZ", "header_damaged", /it is none/);
  refused("", "header_damaged", /it is none/);
});

Deno.test({
  name: "damage gives an answer, none, or a coded failure",
  ignore: !hasSample(EVIL),
  fn() {
    const samples = [readSample(EVIL), writeSymbols(WRITTEN)];
    let refused = 0;
    for (const whole of samples) {
      for (let round = 0; round < 1500; round++) {
        const bytes = whole.slice(0, round % 5 === 0 ? (round * 4099) % whole.length : whole.length);
        for (let hit = 0; hit < 4 && bytes.length > 0; hit++) {
          // Half of the hits fall into the header and the first blocks, where the indexes are.
          const range = hit % 2 === 0 ? Math.min(bytes.length, 64) : bytes.length;
          bytes[((round * 7919 + hit * 104_729) * 13) % range] = (round * 31 + hit * 97) & 0xFF;
        }
        try {
          const pdb = new PdbFile(new MemorySource(bytes));
          for (const rva of [0x1000, 0x1033, 0x10B9, 0x4010]) pdb.locate(rva, rva - 1);
          pdb.findPublics(new Set(["KiWaitNever"]));
          void pdb.unwindData;
        } catch (thrown) {
          assert(thrown instanceof HvError && thrown.code === "hv.bad_dump", String(thrown));
          refused++;
        }
      }
    }
    assert(refused > 100, `${refused} refused`);
  },
});
