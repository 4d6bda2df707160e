/** The bundle: what it does beyond `deno bundle`. */

import assert from "node:assert/strict";
import { buildBundle, hideImportNames } from "../../tools/bundle.ts";
import { readPermissionFlags } from "../../tools/permissions.ts";
import { runProgram } from "../../tools/programs.ts";

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

    for (const name of chunks) {
      const { size } = await Deno.stat(`${folder}/bundle/${name}`);
      const code = await Deno.readTextFile(`${folder}/bundle/${name}`);
      const isProtocol = code.includes("2026-07-28");
      assert.ok(size < 250_000 || isProtocol, `${name} has ${size} bytes: something keeps all of a package`);
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
