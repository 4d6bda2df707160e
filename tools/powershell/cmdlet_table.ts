/** The cmdlets of the published Hyper-V module with their parameters, for each generation of Windows Server. */

/** Generations that the driver is made for. */
export const GENERATIONS = [2016, 2019, 2022, 2025] as const;

/** Cmdlet, in lower case, to its parameters, in lower case. */
export type CmdletTable = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads `tests/hyperv_sim/data/cmdlets.txt`, whose head says how it is written. */
export function readCmdletTable(text: string, generation: number): CmdletTable {
  const table = new Map<string, Set<string>>();
  let current: Set<string> | undefined;
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const cells = line.split("|").map((cell) => cell.trim());
    const since = Number(cells.find((cell) => cell.startsWith("since "))?.slice("since ".length) ?? 0);
    if (!line.startsWith(" ")) {
      current = since <= generation ? new Set() : undefined;
      if (current !== undefined) table.set((cells[0] ?? "").toLowerCase(), current);
      continue;
    }
    if (since > generation) continue;
    const aliases = cells.find((cell) => cell.startsWith("alias "))?.slice("alias ".length).split(" ") ?? [];
    for (const name of [cells[0] ?? "", ...aliases]) current?.add(name.toLowerCase());
  }
  return table;
}
