/** Running a fixed PowerShell 5.1 script in a Windows guest; what it is asked comes apart from it. */

import type { JsonObject } from "../../base/json.ts";
import { HvError } from "../../base/errors.ts";
import type { GuestCommand, ProgramRunner } from "../channel.ts";
import { refuseFailed, runCollector } from "../collect.ts";
import { encodedCommand } from "./encoded_command.ts";
import begin from "./collectors/begin.ps1" with { type: "text" };

/** A collector's answer as JSON, and whether it came whole. Throws `hv.job_failed` when the script fails. */
export async function askPowerShell(
  channel: ProgramRunner,
  script: string,
  wish: JsonObject,
  subject: string,
  signal: AbortSignal,
): Promise<unknown> {
  const collected = await runCollector(channel, powerShellCommand([begin, script], wish), subject, signal);
  refuseFailed(collected, subject);
  if (collected.truncated) {
    throw new HvError("hv.job_failed", `The guest's answer about its ${subject} is too long to be taken in`, {
      hint: "Ask for less",
      context: { subject },
    });
  }
  return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(collected.stdout.trim())));
}

/** Windows PowerShell with a script in parts, which finds what it is asked in the variable `HVLAB_WISH` as JSON. */
export function powerShellCommand(
  parts: readonly string[],
  wish: JsonObject,
): Required<Pick<GuestCommand, "argv" | "env">> {
  const argv = encodedCommand("powershell.exe", parts.map(withoutComments).join("\n"));
  return { argv, env: { HVLAB_WISH: JSON.stringify(wish) } };
}

/** A command line of Windows has at most 32,767 characters. */
function withoutComments(script: string): string {
  return script.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"))
    .join("\n");
}
