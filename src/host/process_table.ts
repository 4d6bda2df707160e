/**
 * Facts about running processes, asked from `ps`: Deno refuses procfs unless every permission is granted
 * (measured on Deno 2.9.6).
 */

import { HvError } from "../base/errors.ts";

export interface ProcessFacts {
  pid: number;
  /** When it started, to the second, as `ps` prints it; with the pid it identifies a process across pid reuse. */
  started: string;
  /** The command line, words joined by spaces. */
  args: string;
}

/** Runs `ps` with arguments and added variables. */
export type RunPs = (
  args: readonly string[],
  env: Record<string, string>,
) => Promise<{ code: number; stdout: Uint8Array; stderr: Uint8Array }>;

/** `lstart` is always 24 characters: `Sun Nov 29 20:02:53 2026`. */
const LINE = /^\s*(\d+)\s+(\S+)\s+(.{24})\s(.*)$/;

/**
 * Asks `ps` for the selected processes, in a locale with English dates that keeps letters beyond ASCII: in plain C
 * each of their bytes becomes a question mark, and no path with one is found again. Zombies are left out, since
 * nothing of them runs any more.
 */
export async function readProcessTable(runPs: RunPs, selection: readonly string[]): Promise<ProcessFacts[]> {
  const finished = await runPs([...selection, "-ww", "-o", "pid=,stat=,lstart=,args="], {
    LC_ALL: "C.UTF-8",
  });
  const stderr = new TextDecoder().decode(finished.stderr).trim();
  if (finished.code > 1 || stderr !== "") {
    throw new HvError("hv.io", `Cannot list processes: ps ended with code ${finished.code}`, {
      context: { stderr },
    });
  }
  return parseProcessTable(new TextDecoder().decode(finished.stdout));
}

/** What `SpawnOptions` of a start put before a program; each of these becomes the next one, under the same process id. */
const STARTERS = /^(?:\S*setpriv --pdeathsig KILL -- )?(?:\S*prlimit (?:--\S+ )+-- )?(?:\S*nice -n \d+ -- )?/;

/** The program of a command line; of one that is being started, what it is about to become. */
export function programIn(args: string): string {
  return args.replace(STARTERS, "").split(" ", 1)[0] ?? "";
}

/** Reads the output of `ps -o pid=,stat=,lstart=,args=`. */
export function parseProcessTable(text: string): ProcessFacts[] {
  const table: ProcessFacts[] = [];
  for (const line of text.split("\n")) {
    const [, pid, state, started, args] = LINE.exec(line) ?? [];
    if (pid === undefined || state === undefined || started === undefined || args === undefined) continue;
    if (!state.startsWith("Z")) table.push({ pid: Number(pid), started, args });
  }
  return table;
}
