/**
 * A guest of the simulated Hyper-V host that keeps crash dumps as Windows does: a system folder on its disk, and a
 * `powershell.exe` that is real PowerShell with the registry's crash settings in it.
 */

import { findShell, type HyperVWorld } from "../hyperv_world.ts";

const STAND_IN = new URL("CrashControl.psm1", import.meta.url).pathname;

/** Windows' own settings for kernel dumps, as its registry has them. */
export const USUAL_SETTINGS = {
  CrashDumpEnabled: 7,
  DumpFile: "%SystemRoot%\\MEMORY.DMP",
  MinidumpDir: "%SystemRoot%\\Minidump",
} as const;

/** The guest's disk as its host's tests see it. */
export interface CrashGuest {
  /** The guest's `%SystemRoot%`, by the path that its programs and this test have for it. */
  readonly systemRoot: string;
  /** Puts a file below it, with its folders. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Changes what the registry says. */
  configure(settings: object): Promise<void>;
  /** Has a file below it go away as soon as it has been listed. */
  loseWhenListed(name: string): Promise<void>;
}

/** Makes the machine of a VM such a guest; before its first session. */
export async function makeCrashGuest(world: HyperVWorld, vm: string): Promise<CrashGuest> {
  const folder = `${world.folder}/guests/${vm.slice("vm-".length)}`;
  const systemRoot = `${folder}/disk/Windows`;
  const [settings, lost] = [`${folder}/crash_control.json`, `${folder}/lost`];
  for (const name of [systemRoot, `${folder}/programs`]) await Deno.mkdir(name, { recursive: true });
  const guest: CrashGuest = {
    systemRoot,
    async write(name, bytes) {
      const path = `${systemRoot}/${name}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.writeFile(path, bytes);
    },
    configure: (content) => Deno.writeTextFile(settings, JSON.stringify(content)),
    loseWhenListed: (name) => Deno.symlink(`${systemRoot}/${name}`, lost),
  };
  await guest.configure(USUAL_SETTINGS);
  // The encoded command comes last.
  const program = `#!/bin/sh
for last; do :; done
script=$(printf %s "$last" | base64 -d | iconv -f UTF-16LE -t UTF-8)
SystemRoot='${systemRoot}' HVLAB_CRASH_CONTROL='${settings}' \\
  '${findShell()}' -NoLogo -NoProfile -NonInteractive -Command "Import-Module '${STAND_IN}'
$script"
code=$?
[ ! -L '${lost}' ] || rm "$(readlink '${lost}')" '${lost}'
exit $code
`;
  await Deno.writeTextFile(`${folder}/programs/powershell.exe`, program, { mode: 0o755 });
  return guest;
}
