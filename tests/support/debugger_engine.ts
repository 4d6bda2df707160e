/**
 * The real Windows debugger engine, where it has been set up. `HVLAB_ENGINE` names a command that takes a dump and
 * debugger commands as arguments and prints each command's text between `==== begin N COMMAND` and `==== end N`, as
 * `dbg.sh FOLDER` of the shared recipe does: `HVLAB_ENGINE="bash .../dbg.sh FOLDER"`.
 */

import assert from "node:assert/strict";
import { sections } from "./expected_values.ts";

const command = Deno.env.get("HVLAB_ENGINE")?.split(" ").filter((word) => word !== "") ?? [];

/** Whether the engine is there; tests that need it are ignored otherwise. */
export const hasEngine: boolean = command.length > 0;

/** What the engine prints for each command on a dump. Fails when it does not open the dump. */
export async function askEngine(
  bytes: Uint8Array,
  ...commands: string[]
): Promise<ReadonlyMap<string, string>> {
  const [program, ...words] = command;
  assert(program !== undefined);
  const path = await Deno.makeTempFile({ suffix: ".dmp" });
  try {
    await Deno.writeFile(path, bytes);
    const { stdout, stderr } = await new Deno.Command(program, {
      args: [...words, "-noise", path, ...commands],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    const text = new TextDecoder().decode(stdout).replaceAll("\r", "");
    assert.match(
      text,
      /^==== opened hr=00000000$/m,
      `${text.slice(-2000)}${new TextDecoder().decode(stderr)}`,
    );
    return sections(text);
  } finally {
    await Deno.remove(path);
  }
}

/** Writes a program named cdb into a folder that runs the engine in its cdb form; answers its path. */
export async function writeEngineAsCdb(folder: string): Promise<string> {
  const path = `${folder}/cdb`;
  const words = command.map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(path, `#!/bin/sh\nexec ${words} --cdb "$@"\n`, { mode: 0o755 });
  return path;
}
