/** Looking files up in symbol stores. */

import assert from "node:assert/strict";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { unpackCabinet } from "../../../../src/debugger/symbols/cabinet.ts";
import { imageKey, symbolKey } from "../../../../src/debugger/symbols/keys.ts";
import { SymbolStores } from "../../../../src/debugger/symbols/stores.ts";
import { parseSymbolPath } from "../../../../src/debugger/symbols/symbol_path.ts";
import { HvError } from "../../../../src/base/errors.ts";
import { denoFiles } from "../../../../src/host/files.ts";
import { openInflater } from "../../../../src/host/inflate.ts";
import { hasSample, readSample } from "../../../support/shared_samples.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

const WANTED = { name: "evil.pdb", key: "CFA6BD75D94C334B4C4C44205044422E1" };
const PACKED = `dumps/made/symbols-packed/evil.pdb/${WANTED.key}/evil.pd_`;
const PLAIN = `dumps/made/symbols/evil.pdb/${WANTED.key}/evil.pdb`;

Deno.test("a symbol path is read as debuggers read it, what lies on other machines apart", () => {
  assert.deepEqual(parseSymbolPath("srv*/a*/b*https://example.org/symbols; /c ;cache*/d;srv**;/a"), {
    roots: ["/a", "/b", "/c", "/d"],
    remote: ["https://example.org/symbols"],
    servers: ["https://example.org/symbols"],
  });
  assert.deepEqual(parseSymbolPath("SYMSRV*symsrv.dll*C:\\symbols*\\\\server\\share;C:\\own"), {
    roots: ["C:\\symbols", "C:\\own"],
    remote: ["\\\\server\\share"],
    servers: [],
  });
  assert.deepEqual(parseSymbolPath(""), { roots: [], remote: [], servers: [] });
});

Deno.test("keys are those that stores use, and hostile names have none", () => {
  const module = {
    name: "amdppm.sys",
    path: null,
    base: 0n,
    size: 0x3B000,
    timeDateStamp: 0xC9C03000,
    checkSum: null,
    exceptionTable: null,
    codeView: null,
    version: null,
  };
  assert.deepEqual(imageKey(module), { name: "amdppm.sys", key: "C9C030003b000" });
  assert.equal(imageKey({ ...module, timeDateStamp: 0x12 })?.key, "000000123b000");
  assert.equal(imageKey({ ...module, name: ".." }), null);
  const record = { format: "RSDS" as const, id: "1C19FDDB27BB3399D9B45973EFEAFCF3", age: 26, path: "" };
  assert.equal(symbolKey({ ...record, name: "a.pdb" })?.key, "1C19FDDB27BB3399D9B45973EFEAFCF31A");
  assert.equal(symbolKey({ ...record, name: null }), null);
});

interface Layout {
  name: string;
  files: Record<string, string>;
  found: string | null;
  warning?: string;
}

const LAYOUTS: Layout[] = [
  {
    name: "plain",
    files: { [`evil.pdb/${WANTED.key}/evil.pdb`]: "good" },
    found: `evil.pdb/${WANTED.key}/evil.pdb`,
  },
  {
    name: "a key in another case",
    files: { [`evil.pdb/${WANTED.key.toLowerCase()}/evil.pdb`]: "good" },
    found: `evil.pdb/${WANTED.key.toLowerCase()}/evil.pdb`,
  },
  {
    name: "two-tier",
    files: { "index2.txt": "", [`ev/evil.pdb/${WANTED.key}/evil.pdb`]: "good" },
    found: `ev/evil.pdb/${WANTED.key}/evil.pdb`,
  },
  {
    name: "two-tier folders without the mark",
    files: { [`ev/evil.pdb/${WANTED.key}/evil.pdb`]: "good" },
    found: null,
  },
  { name: "a plain folder", files: { "evil.pdb": "good" }, found: "evil.pdb" },
  { name: "a folder by extension", files: { "symbols/pdb/evil.pdb": "good" }, found: "symbols/pdb/evil.pdb" },
  {
    name: "another version first",
    files: { [`evil.pdb/${WANTED.key}/evil.pdb`]: "stale", "evil.pdb.d/x": "", "pdb/evil.pdb": "good" },
    found: "pdb/evil.pdb",
    warning: "symbols_mismatch",
  },
  {
    name: "a pointer inside the path",
    files: { [`evil.pdb/${WANTED.key}/file.ptr`]: "PATH:shared/evil.pdb", "shared/evil.pdb": "good" },
    found: "shared/evil.pdb",
  },
  {
    name: "a pointer out of the path",
    files: { [`evil.pdb/${WANTED.key}/file.ptr`]: "PATH:../outside.pdb", "../outside.pdb": "good" },
    found: null,
    warning: "symbols_unreadable",
  },
  { name: "a note", files: { [`evil.pdb/${WANTED.key}/file.ptr`]: "MSG: not archived" }, found: null },
  {
    name: "a file that is no symbol file",
    files: { [`evil.pdb/${WANTED.key}/evil.pdb`]: "broken" },
    found: null,
    warning: "symbols_unreadable",
  },
];

for (const { name, files, found, warning } of LAYOUTS) {
  Deno.test(`a store: ${name}`, () =>
    withTemporaryFolder(async (folder) => {
      const root = `${folder}/store`;
      for (const [path, text] of Object.entries(files)) {
        await Deno.mkdir(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
        await Deno.writeTextFile(`${root}/${path}`, text);
      }
      using stores = new SymbolStores(denoFiles, { roots: [root], remote: [], servers: [] });
      const result = await stores.find(WANTED, (source) => {
        const text = new TextDecoder().decode(source.read(0, 16));
        if (text === "broken") throw new HvError("hv.bad_dump", "It is broken", {});
        return text === "good" ? text : null;
      });
      const real = found === null ? null : await Deno.realPath(`${root}/${found}`);
      assert.equal(result === null ? null : await Deno.realPath(result.path), real);
      assert.deepEqual(stores.warnings.map(({ reason }) => reason), warning === undefined ? [] : [warning]);
    }));
}

Deno.test("a store that is not there and a remote one are named, once", async () => {
  using stores = new SymbolStores(denoFiles, parseSymbolPath("/nowhere/at/all;https://example.org"));
  assert.equal(await stores.find(WANTED, () => true), null);
  assert.equal(await stores.find(WANTED, () => true), null);
  assert.deepEqual(stores.warnings.map(({ reason }) => reason), ["symbols_remote", "symbols_unreadable"]);
});

Deno.test("a pointer to another machine is refused without a look at it", () =>
  withTemporaryFolder(async (folder) => {
    const keyed = `${folder}/evil.pdb/${WANTED.key}`;
    await Deno.mkdir(keyed, { recursive: true });
    await Deno.writeTextFile(`${keyed}/file.ptr`, "PATH:\\\\server\\share\\evil.pdb");
    const asked: string[] = [];
    const files = {
      ...denoFiles,
      stat: (path: string, options?: { follow?: boolean }) => {
        asked.push(path);
        return denoFiles.stat(path, options);
      },
    };
    using stores = new SymbolStores(files, { roots: [folder], remote: [], servers: [] });
    assert.equal(await stores.find(WANTED, () => true), null);
    assert.deepEqual(stores.warnings.map(({ reason }) => reason), ["symbols_unreadable"]);
    assert.deepEqual(asked.filter((path) => path.includes("server")), []);
  }));

Deno.test({
  name: "a packed file is the plain one, and damage of it is refused",
  ignore: !hasSample(PACKED),
  async fn() {
    const inflate = await openInflater();
    const packed = readSample(PACKED);
    const plain = readSample(PLAIN);
    const unpacked = unpackCabinet(new MemorySource(packed), inflate);
    assert.equal(unpacked.size, plain.length);
    assert.deepEqual(unpacked.read(0, unpacked.size), plain);
    let refused = 0;
    for (let round = 0; round < 400; round++) {
      const bytes = packed.slice(0, round % 4 === 0 ? (round * 61) % packed.length : packed.length);
      for (let hit = 0; hit < 3 && bytes.length > 0; hit++) {
        const range = hit === 0 ? Math.min(bytes.length, 80) : bytes.length;
        bytes[((round * 7919 + hit * 104_729) * 13) % range] = (round * 31 + hit * 97) & 0xFF;
      }
      try {
        unpackCabinet(new MemorySource(bytes), inflate);
      } catch (thrown) {
        assert(thrown instanceof HvError && thrown.code === "hv.bad_dump", String(thrown));
        refused++;
      }
    }
    assert(refused > 200, `${refused} refused`);
    const lzx = packed.slice();
    lzx[0x24 + 6] = 3;
    assert.throws(() => unpackCabinet(new MemorySource(lzx), inflate), /a window of 0 bits/);
  },
});
