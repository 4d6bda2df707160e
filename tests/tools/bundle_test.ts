/** The bundle: what it does beyond `deno bundle`. */

import assert from "node:assert/strict";
import { buildBundle, hideImportNames } from "../../tools/bundle.ts";
import { readPermissionFlags } from "../../tools/permissions.ts";
import { ROOT, runProgram } from "../../tools/programs.ts";

Deno.test("names of dynamic imports are hidden, others stay as they are", () => {
  assert.equal(hideImportNames('await import("./a-B1.js")'), 'await import(["./a-B1.js"][0])');
  assert.equal(hideImportNames('import{a}from"./a.js";'), 'import{a}from"./a.js";');
  assert.equal(hideImportNames('import("node:sqlite")'), 'import("node:sqlite")');
  assert.equal(hideImportNames("reimport('./a.js')"), "reimport('./a.js')");
});

Deno.test("Deno draws only the entry's own graph at start, and every chunk can still be loaded", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await buildBundle(`${folder}/bundle`);
    const chunks = (await Array.fromAsync(Deno.readDir(`${folder}/bundle`))).map(({ name }) => name);
    const info = await runProgram(Deno.execPath(), [
      "info",
      "--json",
      "--no-config",
      `${folder}/bundle/main.js`,
    ]);
    const graph: { modules: unknown[] } = JSON.parse(info.stdout);
    assert.ok(chunks.length > 20, `${chunks.length} chunks`);
    assert.ok(
      graph.modules.length < 10,
      `${graph.modules.length} of ${chunks.length} files are read at every start`,
    );

    await checkStart(`${folder}/bundle`);
    assert.equal(await countDisposals(`${folder}/bundle`), await countDisposals(`${ROOT}/src`));

    for (const name of chunks) {
      const { size } = await Deno.stat(`${folder}/bundle/${name}`);
      const code = await Deno.readTextFile(`${folder}/bundle/${name}`);
      const isProtocol = code.includes("2026-07-28");
      assert.ok(size < 500_000 || isProtocol, `${name} has ${size} bytes: something keeps all of a package`);
    }

    const hello = await runProgram(Deno.execPath(), [
      "run",
      ...readPermissionFlags(),
      "--no-config",
      "--no-lock",
      `${folder}/bundle/main.js`,
      "tools",
      "--json",
    ]);
    assert.equal(hello.stderr, "");
    assert.ok(JSON.parse(hello.stdout).tools.length > 10);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** What `hvlab dump inspect` loads before it opens the dump: few files, and nothing that it does not use. */
async function checkStart(folder: string): Promise<void> {
  const start = /start-\w+\.js/.exec(await Deno.readTextFile(`${folder}/main.js`))?.[0];
  assert.ok(start !== undefined, "main.js loads the start");
  const started = await readWithImports(folder, [start]);
  assert.ok(![...started.values()].some((code) => code.includes("ZodMiniType")), "the start needs no zod");

  const [tool] = await findChunks(folder, /name: ?"dump_inspect",\s*family/);
  assert.ok(tool !== undefined, "one chunk is the tool");
  const loaded = await readWithImports(folder, [start, tool]);
  const bytes = [...loaded.values()].reduce((sum, code) => sum + code.length, 0);
  assert.ok(loaded.size <= 16, `${loaded.size} files: ${[...loaded.keys()].join(", ")}`);
  assert.ok(bytes <= 350_000, `${bytes} bytes in ${[...loaded.keys()].join(", ")}`);
  for (const [name, code] of loaded) {
    assert.doesNotMatch(code, /from ?"node:/, `${name} imports a module of Node`);
  }
  const unused: readonly [string, RegExp][] = [
    ["a driver", /qemu-img/],
    ["the MCP protocol", /2026-07-28/],
    ["the writer of JSON Schema", /draft-2020-12/],
    ["a table of bug checks", /\n0xD1 DRIVER_IRQL/],
    ["YAML", /YAMLException/],
  ];
  for (const [what, mark] of unused) {
    assert.ok(
      (await findChunks(folder, mark)).length > 0 || mark.source.includes("node"),
      `${what} is found`,
    );
    for (const [name, code] of loaded) assert.doesNotMatch(code, mark, `${name} holds ${what}`);
  }
}

/** The code of some files and of all that they import, by file name. */
async function readWithImports(folder: string, names: readonly string[]): Promise<Map<string, string>> {
  const read = new Map<string, string>();
  const wanted = new Set(names);
  for (const name of wanted) {
    const code = await Deno.readTextFile(`${folder}/${name}`);
    read.set(name, code);
    for (const [, next = ""] of code.matchAll(/(?:from|import) ?"\.\/([^"]+)"/g)) wanted.add(next);
  }
  return read;
}

async function findChunks(folder: string, mark: string | RegExp): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const code = await Deno.readTextFile(`${folder}/${name}`);
    if (typeof mark === "string" ? code.includes(mark) : mark.test(code)) found.push(name);
  }
  return found;
}

/** How many `using` declarations stand in all files below a folder: each frees a lock, a file or a half-made thing. */
async function countDisposals(folder: string): Promise<number> {
  let count = 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) count += await countDisposals(path);
    else if (/\.[jt]s$/.test(name)) {
      count += (await Deno.readTextFile(path)).match(/\busing [A-Za-z_$][\w$]* ?= /g)?.length ?? 0;
    }
  }
  return count;
}
