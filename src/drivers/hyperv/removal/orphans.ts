/** What hvlab left behind on a Hyper-V host: half-made VMs by their mark, and folders that no VM uses. */

import type { Orphan, Removed } from "../../../contract/vm.ts";
import { nameOf } from "../../../base/paths.ts";
import type { CallScope } from "../../call_scope.ts";
import type { HyperV } from "../client.ts";
import type { MachineFacts } from "../map.ts";
import type { Removal, Sandboxes } from "../machines/sandboxes.ts";
import { KEY, readTag } from "../machines/tag.ts";

/** A making takes seconds; what is older than this has nobody who goes on with it. */
const MAKING_LIMIT_MS = 10 * 60_000;
const UNKNOWN_AGE = "its age cannot be told, so it is never removed";

/** Half-made VMs, ended sandboxes and stray folders that are old enough, and those whose age cannot be told. */
export async function findOrphans(
  hyperv: HyperV,
  sandboxes: Sandboxes,
  signal: AbortSignal,
): Promise<Orphan[]> {
  const { machines } = await hyperv.listMachines(signal);
  const now = hyperv.host.clock.now();
  const orphans: Orphan[] = [];
  for (const machine of machines) {
    const why = await whyOrphan(machine, sandboxes, now);
    if (why === undefined) continue;
    orphans.push({
      ...why,
      id: `vm-${machine.id}`,
      name: machine.name,
      paths: [machine.path],
      size_bytes: 0,
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

/** Why a machine is a leftover; `undefined` for one that is none. Its power state plays no part. */
async function whyOrphan(
  { notes, path, created }: MachineFacts,
  sandboxes: Sandboxes,
  now: number,
): Promise<Pick<Orphan, "kind" | "reason"> | undefined> {
  const tag = readTag(notes);
  if (tag === undefined) return undefined;
  // One that lies in a folder of ours and bears another one's mark is a copy whose making broke off.
  const isStray = !tag.adopted && KEY.test(nameOf(path)) && tag.key !== nameOf(path);
  if (tag.making || isStray) {
    const age = ageOf(tag.making ? tag.created_at : created ?? undefined, now);
    if (age !== undefined && age < MAKING_LIMIT_MS) return undefined;
    const reason = age === undefined ? `It was never finished, and ${UNKNOWN_AGE}` : "It was never finished";
    return { kind: "unfinished_vm", reason };
  }
  if (tag.sandbox !== undefined && tag.sandbox.expires_at === undefined) {
    return { kind: "sandbox_expired", reason: `The end of its lease cannot be read, and ${UNKNOWN_AGE}` };
  }
  return await sandboxes.whyEnded(tag);
}

/** Removes one orphan after looking at it again. What has no known age stays. */
export async function removeOrphan(
  hyperv: HyperV,
  sandboxes: Sandboxes,
  remove: Removal,
  orphan: Orphan,
  scope: CallScope,
): Promise<Removed> {
  const { id, name } = orphan;
  const still = (await findOrphans(hyperv, sandboxes, scope.signal)).find((other) => other.id === id);
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
  return await remove(id, scope);
}

function ageOf(created: string | undefined, now: number): number | undefined {
  const at = created === undefined ? NaN : Date.parse(created);
  return Number.isNaN(at) ? undefined : now - at;
}

function isInside(path: string, folder: string): boolean {
  const plain = (text: string): string => text.replaceAll("\\", "/").replace(/\/+$/, "").toLowerCase();
  return plain(path) === plain(folder) || plain(path).startsWith(`${plain(folder)}/`);
}
