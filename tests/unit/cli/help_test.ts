import assert from "node:assert/strict";
import { VERSION } from "../../../src/base/version.ts";
import { flagsOf } from "../../../src/cli/flags.ts";
import { GLOBAL_FLAGS } from "../../../src/cli/globals.ts";
import { inputJsonSchema } from "../../../src/tools/json_schema.ts";
import { catalogue } from "../../../src/tools/table.ts";
import { runCommandLine } from "../../support/command_line.ts";

for (
  const argv of [
    ["--help"],
    ["help"],
    ["box", "--help"],
    ["help", "box"],
    ["box", "make", "--help"],
    ["--help", "box", "make", "web", "--wrong"],
    ["box", "delete", "-h"],
    ["plan", "box", "delete", "--help"],
    ["box", "run", "--help"],
    ["file", "pick-from", "--help"],
    ["plan", "--help"],
    ["mcp", "--help"],
    ["completions", "--help"],
  ]
) {
  Deno.test(`help: hvlab ${argv.join(" ")}`, async (t) => {
    const { code, out, err } = await runCommandLine(argv);
    assert.deepEqual([code, err], [0, ""]);
    await t.assertSnapshot(out.replaceAll(VERSION, "VERSION"));
  });
}

Deno.test("hvlab alone shows help on stderr and is a wrong command line", async () => {
  const { code, out, err } = await runCommandLine([]);
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /^hvlab .*\n\nUsage:/);
});

Deno.test("help under --json is one object", async () => {
  const { out } = await runCommandLine(["box", "list", "--help", "--json"]);
  assert.match(JSON.parse(out).help, /^List the boxes \(class R: reads\)/);
});

Deno.test("help for words that are no command is a wrong command line", async () => {
  const { code, err } = await runCommandLine(["bxo", "--help"]);
  assert.equal(code, 2);
  assert.match(err, /Did you mean "box"/);
});

Deno.test("every tool's flags are spelled in one way, differ from each other, and leave the global ones alone", async () => {
  const global = new Set(GLOBAL_FLAGS.map(({ name }) => name));
  for (const tool of await catalogue.loadAll()) {
    const names = flagsOf(tool).flatMap((flag) => flag.names);
    assert.deepEqual(names.filter((name) => !/^[a-z][a-z0-9-]*$/.test(name)), [], tool.name);
    assert.deepEqual(names.filter((name, index) => names.indexOf(name) !== index), [], tool.name);
    assert.deepEqual(names.filter((name) => global.has(name)), [], tool.name);
  }
});

for (const name of ["vm_create", "sandbox_create", "sandbox_run"]) {
  Deno.test(`every flag of ${name} says what it means, and MCP's schema stays as short as before`, async () => {
    const tool = await catalogue.load(name);
    const silent = flagsOf(tool).filter(({ description }) => (description ?? "") === "");
    assert.deepEqual(silent.map(({ names }) => names[0]), []);
    const schema = JSON.stringify(inputJsonSchema(tool));
    assert.deepEqual([...tool.help.values()].filter((text) => schema.includes(text)), []);
  });
}

Deno.test("every tool's positional and rest arguments are fields, and only the last takes a list", async () => {
  for (const tool of await catalogue.loadAll()) {
    const types = new Map(flagsOf(tool).map(({ field }) => [field.name, field.type]));
    const placed = tool.positional.map((name) => types.get(name));
    assert.ok(placed.every((type) => type !== undefined), tool.name);
    assert.ok(placed.slice(0, -1).every((type) => type !== "list"), tool.name);
    if (tool.rest !== undefined) assert.equal(types.get(tool.rest), "list", tool.name);
  }
});
