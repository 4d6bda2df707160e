/** What hvlab left behind on a Hyper-V host: half-made VMs by their mark, and folders that no VM uses. */

import type { Orphan, Removed } from "../../contract/vm.ts";
import type { CallScope } from "../call_scope.ts";
import type { HyperV } from "./client.ts";
import { removeVm } from "./removal.ts";
import { readTag } from "./tag.ts";

/** A making takes seconds; what is older than this has nobody who goes on with it. */
const MAKING_LIMIT_MS = 10 * 60_000;
const UNKNOWN_AGE = "its age cannot be told, so it is never removed";

/** Half-made VMs and stray folders that are old enough, and those whose age cannot be told. */
export async function findOrphans(hyperv: HyperV, signal: AbortSignal): Promise<Orphan[]> {
  const { machines } = await hyperv.listMachines(signal);
  const now = hyperv.host.clock.now();
  const orphans: Orphan[] = [];
  for (const machine of machines) {
    const tag = readTag(machine.notes);
    if (tag === undefined || !tag.making) continue;
    const age = ageOf(tag.created_at, now);
    if (age !== undefined && age < MAKING_LIMIT_MS) continue;
    orphans.push({
      kind: "unfinished_vm",
      id: `vm-${machine.id}`,
      name: machine.name,
      paths: [machine.path],
      size_bytes: 0,
      reason: age === undefined ? `It was never finished, and ${UNKNOWN_AGE}` : "It was never finished",
    });
  }
  const inUse = (path: string, name: string): boolean =>
    machines.some((machine) => readTag(machine.notes)?.key === name || isInside(machine.path, path));
  for (const { name, path, size_bytes, created } of await hyperv.ownFolders(signal)) {
    const age = ageOf(created ?? undefined, now);
    if (inUse(path, name) || (age !== undefined && age < MAKING_LIMIT_MS)) continue;
    orphans.push({
      kind: "folder_without_record",
      id: name,
      paths: [path],
      size_bytes: Number(size_bytes),
      reason: age === undefined ? `No VM uses this folder, and ${UNKNOWN_AGE}` : "No VM uses this folder",
    });
  }
  return orphans;
}

/** Removes one orphan after looking at it again. What has no known age stays. */
export async function removeOrphan(hyperv: HyperV, orphan: Orphan, scope: CallScope): Promise<Removed> {
  const { id, name } = orphan;
  const still = (await findOrphans(hyperv, scope.signal)).find((other) => other.id === id);
  const stays = (warning: string): Removed => ({
    id,
    ...(name === undefined ? {} : { name }),
    removed: false,
    files: [],
    warnings: [warning],
  });
  if (still === undefined) return stays("It is gone, or in use by now");
  if (still.reason.endsWith(UNKNOWN_AGE)) return stays(still.reason);
  if (still.kind === "folder_without_record") {
    return { id, ...await hyperv.removeStrayFolder(id, scope) };
  }
  return await removeVm(hyperv, id, {}, scope);
}

function ageOf(created: string | undefined, now: number): number | undefined {
  const at = created === undefined ? NaN : Date.parse(created);
  return Number.isNaN(at) ? undefined : now - at;
}

function isInside(path: string, folder: string): boolean {
  const plain = (text: string): string => text.replaceAll("\\", "/").replace(/\/+$/, "").toLowerCase();
  return plain(path) === plain(folder) || plain(path).startsWith(`${plain(folder)}/`);
}
