/** Whether a process runs on Windows, asked from `tasklist.exe`, which every Windows has. */

import { HvError } from "../base/errors.ts";

/** Runs `tasklist.exe` with arguments. */
export type RunTaskList = (
  args: readonly string[],
) => Promise<{ code: number; stdout: Uint8Array; stderr: Uint8Array }>;

/**
 * A row is `"hvlab.exe","4242","Console","1","35,684 K"`; no row is one line in the user's language. Throws `hv.io` when
 * it says nothing at all: that proves nothing.
 */
export async function isInTaskList(runTaskList: RunTaskList, pid: number): Promise<boolean> {
  const finished = await runTaskList(["/FI", `PID eq ${pid}`, "/FO", "CSV", "/NH"]);
  const text = new TextDecoder().decode(finished.stdout).trim();
  if (finished.code !== 0 || text === "") {
    throw new HvError("hv.io", `Cannot list processes: tasklist ended with code ${finished.code}`, {
      context: { pid, stderr: new TextDecoder().decode(finished.stderr).trim() },
    });
  }
  return text.split(/\r?\n/).some((row) => /^"[^"]*","(\d+)",/.exec(row)?.[1] === String(pid));
}
