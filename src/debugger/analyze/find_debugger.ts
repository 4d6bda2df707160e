/** Where a debugger stands: named in the configuration, on PATH, or where its installers put it. */

import { HvError } from "../../base/errors.ts";
import type { Host } from "../../host/host.ts";

/** Names in the order in which they are looked for. */
const USUAL_NAMES = ["cdb", "cdb.exe", "kd.exe"] as const;

/** Under which the debugger from Windows' Store puts itself on PATH. */
const STORE_NAMES = [
  "cdbX64.exe",
  "cdbARM64.exe",
  "cdbX86.exe",
  "kdX64.exe",
  "kdARM64.exe",
  "kdX86.exe",
] as const;

/** All names that a configuration can give a path for. */
export const DEBUGGER_NAMES = [...USUAL_NAMES, ...STORE_NAMES] as const;

const KITS = ["x64", "arm64", "x86"].flatMap((machine) =>
  ["cdb.exe", "kd.exe"].map((name) =>
    `C:\\Program Files (x86)\\Windows Kits\\10\\Debuggers\\${machine}\\${name}`
  )
);

/** Where installers put it, for programs that are not on PATH. */
export const USUAL_PLACES: readonly string[] = [
  ...KITS,
  "C:\\Program Files\\Debugging Tools for Windows (x64)\\cdb.exe",
];

/**
 * The full path of the debugger. A name in the configuration wins; one that leads nowhere fails instead of another
 * program being taken. Fails with `hv.unavailable` when there is none.
 */
export async function findDebugger(
  { os, files, processes }: Pick<Host, "os" | "files" | "processes">,
  configured: ReadonlyMap<string, string>,
): Promise<string> {
  for (const name of DEBUGGER_NAMES) {
    const named = configured.get(name);
    if (named === undefined) continue;
    const path = await processes.find(name);
    if (path !== undefined) return path;
    throw new HvError("hv.unavailable", `The debugger "${named}" that hvlab.yaml names is no program`, {
      hint: `Correct "programs.${name}"`,
      context: { program: name, path: named },
      retryable: false,
    });
  }
  const names = os === "windows" ? DEBUGGER_NAMES : USUAL_NAMES;
  for (const name of names) {
    const path = await processes.find(name);
    if (path !== undefined) return path;
  }
  if (os === "windows") {
    for (const path of USUAL_PLACES) {
      if ((await files.stat(path, { follow: true }))?.kind === "file") return path;
    }
  }
  throw new HvError("hv.unavailable", "There is no Windows debugger here: no cdb, cdb.exe or kd.exe", {
    hint: os === "windows"
      ? 'Install the Debugging Tools for Windows, or name cdb.exe under "programs" in hvlab.yaml'
      : "`hvlab dump triage` needs none. For a second opinion put a wrapper named cdb on PATH",
    context: { looked_for: [...names] },
    retryable: false,
  });
}
