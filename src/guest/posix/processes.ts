/** What runs in a POSIX guest, as /proc of Linux has it. */

import type { GuestProcess } from "../../contract/guest_processes.ts";
import type { ProgramRunner } from "../channel.ts";
import type { Listing } from "../inspection.ts";
import script from "./collectors/processes.sh" with { type: "text" };
import { collectParts, linesOf, type Parts } from "./parts.ts";

const KIBIBYTE = 1024;

/** The words for the letters of proc(5). */
const STATES: Readonly<Record<string, string>> = {
  R: "running",
  S: "sleeping",
  D: "waiting",
  Z: "zombie",
  T: "stopped",
  t: "traced",
  I: "idle",
  X: "dead",
};

/** Lists the processes without those of the collector. */
export async function collectProcesses(
  channel: ProgramRunner,
  signal: AbortSignal,
): Promise<Listing<GuestProcess>> {
  const { parts, mark, truncated } = await collectParts(channel, script, "processes", signal);
  return { items: readProcesses(parts, mark), truncated };
}

/** Reads the parts that `processes.sh` prints. */
export function readProcesses(parts: Parts, mark: string): GuestProcess[] {
  const [boot = "", ticks = "100"] = linesOf(parts, "clock");
  const bootSeconds = Number(/^btime (\d+)$/.exec(boot)?.[1] ?? NaN);
  const users = new Map(
    linesOf(parts, "users").map((line) => {
      const [name = "", , uid = ""] = line.split(":");
      return [uid, name];
    }),
  );
  const stats = textsByPid((parts.get("stat") ?? "").split("\n"), "\n");
  const words = textsByPid((parts.get("words") ?? "").split("\0"), " ");
  const statuses = textsByPid((parts.get("status") ?? "").split("\n"), "\n");
  const processes: GuestProcess[] = [];
  const own = new Set<number>();
  for (const [pid, status] of statuses) {
    const field = (name: string): string | undefined =>
      new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1];
    const stat = stats.get(pid);
    // The name in the first field may hold anything, parentheses too.
    const numbers = stat?.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number) ?? [];
    const started = bootSeconds * 1000 + (numbers[19] ?? NaN) / Number(ticks) * 1000;
    const cpu = ((numbers[11] ?? NaN) + (numbers[12] ?? NaN)) / Number(ticks) * 1000;
    const memory = /^(\d+) kB$/.exec(field("VmRSS") ?? "")?.[1];
    const uid = field("Uid")?.split("\t")[0] ?? "";
    const commandLine = words.get(pid);
    const parent = Number(field("PPid"));
    if (commandLine?.includes(mark) || own.has(parent)) own.add(pid);
    if (own.has(pid)) continue;
    processes.push({
      pid,
      ...(Number.isNaN(parent) ? {} : { parent_pid: parent }),
      name: field("Name") ?? "",
      ...(commandLine === undefined ? {} : { command_line: commandLine }),
      ...(uid === "" ? {} : { owner: users.get(uid) ?? uid }),
      ...stateOf(field("State")),
      ...(Number.isFinite(started) ? { started_at: new Date(started).toISOString() } : {}),
      ...(Number.isFinite(cpu) ? { cpu_ms: Math.round(cpu) } : {}),
      ...(memory === undefined ? {} : { memory_bytes: Number(memory) * KIBIBYTE }),
      ...(field("Threads") === undefined ? {} : { threads: Number(field("Threads")) }),
    });
  }
  return processes;
}

function stateOf(text: string | undefined): { state?: string } {
  const letter = text?.[0];
  return letter === undefined ? {} : { state: STATES[letter] ?? letter };
}

/** What the files under /proc/PID hold, by PID in ascending order; each line begins with the file's name. */
function textsByPid(lines: readonly string[], joint: string): Map<number, string> {
  const texts = new Map<number, string>();
  for (const line of lines) {
    const [head, pid] = /^\/proc\/(\d+)\/\w+:/.exec(line) ?? [];
    if (head === undefined) continue;
    const text = line.slice(head.length);
    const before = texts.get(Number(pid));
    texts.set(Number(pid), before === undefined ? text : before + joint + text);
  }
  return new Map([...texts].sort(([one], [other]) => one - other));
}
