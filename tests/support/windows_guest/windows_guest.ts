/** A Windows guest of which only PowerShell is real: what the collectors ask Windows for is answered by a stand-in. */

import { HvError } from "../../../src/base/errors.ts";
import type { GuestChannel } from "../../../src/guest/channel.ts";
import { findShell } from "../hyperv_world.ts";

const STAND_IN = new URL("WindowsGuest.psm1", import.meta.url).pathname;

/** Why there is none; `undefined` when there is. */
export const NO_WINDOWS_GUEST = findShell() === undefined ? "pwsh is not installed" : undefined;

/** A channel that runs encoded commands for `powershell.exe` in the PowerShell of this machine. */
export function openWindowsGuest(): Pick<GuestChannel, "name" | "family" | "exec"> {
  return {
    name: "psdirect",
    family: "windows",
    async exec({ argv, env = {} }, sinks, signal) {
      const [program = "", ...words] = argv;
      const line = argv.reduce((length, word) => length + word.length + 3, 0);
      if (line > COMMAND_LINE_LIMIT) throw new Error(`the command line has ${line} characters`);
      if (program !== "powershell.exe") {
        throw new HvError("hv.not_found", `There is no program "${program}" in the guest`);
      }
      const encoded = Uint8Array.fromBase64(words.at(-1) ?? "");
      const script = new TextDecoder("utf-16le").decode(encoded);
      const child = new Deno.Command(findShell() ?? "", {
        args: [
          "-NoLogo",
          "-NoProfile",
          "-NonInteractive",
          "-Command",
          `Import-Module '${STAND_IN}'\n${script}`,
        ],
        env,
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
        signal,
      }).spawn();
      const { code, stdout, stderr } = await child.output();
      await sinks.stdout(stdout);
      await sinks.stderr(stderr);
      return { exit_code: code, signal: null };
    },
  };
}

/** Of CreateProcess. */
const COMMAND_LINE_LIMIT = 32_767;
