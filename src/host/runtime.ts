/** What runs this program, and how to run it again. */

import type { Processes } from "./processes.ts";

/** Versions of the runtime, as `hvlab version` shows them. */
export function runtimeVersions(): { deno: string; v8: string; typescript: string } {
  return { ...Deno.version };
}

/**
 * The words that start this very program with the same permissions and without its own arguments: Deno with its flags
 * and the entry file, or a compiled program alone. Read from the kernel through `cat`, since Deno tells a program
 * neither its flags nor its permissions as text. `undefined` where that cannot be had, as on other systems than Linux.
 */
export async function ownCommand(processes: Pick<Processes, "run">): Promise<string[] | undefined> {
  if (Deno.build.os !== "linux") return undefined;
  const { code, stdout } = await processes.run("cat", [`/proc/${Deno.pid}/cmdline`]);
  if (code !== 0) return undefined;
  const words = new TextDecoder().decode(stdout).split("\0").slice(0, -1);
  const own = words.length - Deno.args.length;
  const isKnown = own > 0 && Deno.args.every((argument, index) => words[own + index] === argument);
  return isKnown ? [Deno.execPath(), ...words.slice(1, own)] : undefined;
}

/** Leaves the folder that this process was started in, so that it can be removed or unmounted. */
export function workIn(folder: string): void {
  Deno.chdir(folder);
}
