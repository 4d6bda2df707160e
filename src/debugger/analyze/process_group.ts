/**
 * The processes of one debugger run, as `ps` tells them. Windows ends a tree by other means and tells no sizes here.
 */

import type { Host } from "../../host/host.ts";

/** The variable that all processes of a run have in their environment. */
export const RUN_VARIABLE = "HVLAB_DEBUGGER_RUN";

type GroupHost = Pick<Host, "os" | "processes">;

/** Bytes that the process group holds in memory; 0 where it cannot be told. */
export async function memoryOfGroup({ os, processes }: GroupHost, leader: number): Promise<number> {
  if (os === "windows") return 0;
  let kilobytes = 0;
  for (const line of await listProcesses(processes, ["-A", "-o", "pgid=,rss="])) {
    const [group, resident] = line.trim().split(/\s+/).map(Number);
    if (group === leader && resident !== undefined && Number.isFinite(resident)) kilobytes += resident;
  }
  return kilobytes * 1024;
}

/**
 * Ends what a debugger started and moved out of its process group. Wine's server and the services that it keeps are
 * let be: they serve every program of that user, and end by themselves.
 */
export async function endStragglers({ os, processes }: GroupHost, run: string): Promise<void> {
  if (os === "windows") return;
  for (const line of await listProcesses(processes, ["axeww", "-o", "pid=,command="])) {
    if (!line.includes(`${RUN_VARIABLE}=${run}`)) continue;
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || command === undefined || SHARED.test(command)) continue;
    await processes.kill(Number(pid), "KILL");
  }
}

const SHARED = /^(?:\S*wineserver(?:32|64)?|C:\\windows\\system32\\\S+)(?:\s|$)/i;

async function listProcesses(
  processes: GroupHost["processes"],
  args: readonly string[],
): Promise<string[]> {
  try {
    const { stdout } = await processes.run("ps", args);
    return new TextDecoder().decode(stdout).split("\n");
  } catch {
    // A machine without `ps` still has the group's own end.
    return [];
  }
}
