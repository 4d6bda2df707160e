/**
 * The real Windows debugger engine: in `dist/engine`, where `tools/setup.sh suites` has set it up by the recipe beside the shared
 * samples, or where `HVLAB_ENGINE` says. That is a command which takes a dump and debugger commands as arguments and prints
 * each command's text between `==== begin N COMMAND` and `==== end N`, as the recipe's `dbg.sh FOLDER` does.
 */

import assert from "node:assert/strict";
import { ROOT } from "../../tools/programs.ts";
import { sections } from "./expected_values.ts";
import { runToItsEnd } from "./lasting_programs.ts";
import { hasSample, samplePath } from "./shared_samples.ts";

/** Where the set-up leaves the engine with its `cdb.exe`. */
export const ENGINE_FOLDER = `${ROOT}/dist/engine`;

/** The command and its first words; empty where there is no engine. */
export const ENGINE: readonly string[] = findEngine();

/** Why tests with the engine are skipped; `undefined` where they run. */
export const NO_ENGINE: string | undefined = ENGINE.length > 0
  ? undefined
  : "the debugger engine is not set up: run sh tools/setup.sh suites";

/** Registers a test that needs the engine and these shared samples. */
export function engineTest(
  promise: string,
  work: () => Promise<void>,
  samples: readonly string[] = [],
): void {
  const missing = samples.find((name) => !hasSample(name));
  const reason = NO_ENGINE ?? (missing === undefined ? undefined : `there is no ${samplePath(missing)}`);
  Deno.test({
    name: reason === undefined ? promise : `${promise} (skipped: ${reason})`,
    ignore: reason !== undefined,
    fn: work,
  });
}

function findEngine(): string[] {
  const named = Deno.env.get("HVLAB_ENGINE")?.split(" ").filter((word) => word !== "") ?? [];
  if (named.length > 0) return named;
  const runner = "recipes/dbgeng/dbg.sh";
  const isSetUp = hasSample(runner) && isFile(`${ENGINE_FOLDER}/bin/dbghost.exe`);
  return isSetUp ? ["bash", samplePath(runner), ENGINE_FOLDER] : [];
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** What the engine prints for each command on a dump. Fails when it does not open the dump. */
export async function askEngine(
  bytes: Uint8Array,
  ...commands: string[]
): Promise<ReadonlyMap<string, string>> {
  const [program, ...words] = ENGINE;
  assert(program !== undefined);
  const path = await Deno.makeTempFile({ suffix: ".dmp" });
  try {
    await Deno.writeFile(path, bytes);
    const { stdout, stderr } = await runToItsEnd(program, [...words, "-noise", path, ...commands]);
    const text = stdout.replaceAll("\r", "");
    assert.match(text, /^==== opened hr=00000000$/m, text.slice(-2000) + stderr);
    return sections(text);
  } finally {
    await Deno.remove(path);
  }
}

/** Writes a program named cdb into a folder that runs the engine in its cdb form; answers its path. */
export async function writeEngineAsCdb(folder: string): Promise<string> {
  const path = `${folder}/cdb`;
  const words = ENGINE.map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(path, `#!/bin/sh\nexec ${words} --cdb "$@"\n`, { mode: 0o755 });
  return path;
}
