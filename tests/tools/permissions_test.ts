/** The one permission list against what the source really asks for. */

import assert from "node:assert/strict";
import { namesOf, readPermissionFlags, SYSTEM_KINDS } from "../../tools/permissions.ts";
import { ROOT } from "../../tools/programs.ts";

const everywhere = SYSTEM_KINDS.map((system) => readPermissionFlags(system));
const flags = everywhere.flat();
const sources = await readSources(`${ROOT}/src`);

Deno.test("every environment variable that the source reads is in the list", () => {
  const read = matches(
    /(?:\b(?:environment|env|this)\.get|\bgetEnvironment|\bvariable|#require)\(\s*"([A-Z][A-Z0-9_]{2,})"/g,
    sources,
  );
  assert.ok(read.has("HVLAB_STATE") && read.has("PATH"), "the search finds what is known to be read");
  assert.deepEqual([...read].filter((name) => !isListed(name, namesOf(flags, "env"))), []);
});

Deno.test("every program that the source starts is in the list", () => {
  const constants = new Map(
    [...sources.join("\n").matchAll(/\bconst ([A-Z_]+)(?:: string)? = "([^"]+)"/g)].map((
      [, name, value],
    ) => [name, value]),
  );
  const named = matches(/\b(?:processes|this)\.(?:run|start|find)\(\s*"([a-z][\w.-]*)"/g, sources);
  for (const name of matches(/\bprocesses\.(?:run|start|find)\(\s*([A-Z_]+)[,)]/g, sources)) {
    const value = constants.get(name);
    assert.ok(value !== undefined, `the program constant ${name} has no text value`);
    named.add(value);
  }
  assert.ok(named.has("ps"), "the search finds what is known to be started");
  assert.deepEqual([...named].filter((name) => !namesOf(flags, "run").includes(name)), []);
});

Deno.test("the list of system facts is what src/host asks for, no more and no less", () => {
  const asked = matches(
    /\bDeno\.(systemMemoryInfo|hostname|osRelease|osUptime|loadavg|networkInterfaces|uid|gid)\(/g,
    sources,
  );
  assert.deepEqual([...asked].sort(), [...new Set(namesOf(flags, "sys"))].sort());
});

Deno.test("no kind of permission is granted beyond the documented ones, and nothing is listed twice", () => {
  for (const flags of everywhere) {
    const kinds = flags.map((flag) => flag.split("=", 1)[0]);
    assert.deepEqual(kinds, [
      "--no-prompt",
      "--quiet",
      "--no-remote",
      "--v8-flags",
      "--allow-read",
      "--allow-write",
      "--allow-net",
      "--allow-env",
      "--allow-sys",
      "--allow-run",
      "--allow-run",
    ]);
    for (const kind of ["env", "sys", "run"]) {
      const names = namesOf(flags, kind);
      assert.ok(names.length > 0);
      assert.deepEqual(names, [...new Set(names)]);
    }
  }
});

Deno.test("no system may start the other's programs", () => {
  const [posix = [], windows = []] = everywhere.map((flags) => namesOf(flags, "run"));
  assert.deepEqual(posix.filter((name) => /\\|^(taskkill|tasklist|powershell)/.test(name)), []);
  assert.deepEqual(windows.filter((name) => /\/|^(ps|kill|setpriv)$/.test(name)), []);
});

function isListed(name: string, list: readonly string[]): boolean {
  return list.some((entry) => entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : entry === name);
}

function matches(pattern: RegExp, texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name ?? "")));
}

async function readSources(folder: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) texts.push(...await readSources(`${folder}/${name}`));
    else if (name.endsWith(".ts")) texts.push(await Deno.readTextFile(`${folder}/${name}`));
  }
  return texts;
}
