/** Why a program in the guest could not be brought to its start. */

import { HvError } from "../../../base/errors.ts";
import type { GuestCommand } from "../../../guest/channel.ts";
import type { ProgramStatus } from "./program.ts";

/** The guest cannot have a program's streams in the place that was tried. */
export class NoPlace extends Error {
  override readonly name = "NoPlace";
}

/** The word that our script left, in the codes of hvlab. */
export function setupFailure(
  { exit, stdout, stderr }: ProgramStatus,
  { argv, cwd = "" }: GuestCommand,
): Error {
  const [program = ""] = argv;
  const context = { program, ...(stderr === "" ? {} : { guest_stderr: stderr }) };
  switch (stdout) {
    case "cwd":
      return new HvError("hv.not_found", `There is no folder "${cwd}" in the guest to start in`, {
        hint: "Make it first, or name another --cwd",
        context: { ...context, path: cwd },
      });
    case "program":
      return new HvError("hv.not_found", `There is no program "${program}" in the guest`, {
        hint: "Check its name and the PATH of the guest; built-in words of a shell need `sh -c`",
        context,
      });
    case "executable":
      return new HvError("hv.not_found", `"${program}" in the guest is not executable`, {
        hint: "Make it executable, or name its interpreter as the program",
        context,
      });
    case "pipe":
    case "place":
      return new NoPlace(stderr);
    case "mkfifo":
    case "rm":
    case "setsid":
      return new HvError("hv.unsupported", `The guest has no "${stdout}", which running programs needs`, {
        hint: "Install busybox, or coreutils and util-linux, in the guest",
        context: { ...context, missing: stdout },
      });
    default:
      return new HvError("hv.io", `The guest's shell could not start "${program}"`, {
        hint: "Look at what it said in the context",
        context: { ...context, exit_code: exit?.exit_code ?? null, signal: exit?.signal ?? null },
      });
  }
}
