/** Removing what was left behind; each is looked at again before. */

import { parseVmId } from "../../../base/ids.ts";
import { joinPath } from "../../../base/paths.ts";
import type { Orphan, Removed } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecords } from "../records.ts";
import { filesUnder, removeUnderLock, removeUnfinished, unfinishedId } from "../removal.ts";
import { RuntimeFolder } from "../runtime_folder.ts";
import type { Sandboxes } from "../sandboxes.ts";
import { type VmLock, waitForVmLock } from "../vm_lock.ts";
import { knownIds } from "./find.ts";
import { endStrayHelpers, helpersWithoutQemu } from "./helpers.ts";
import { removeKeeperNote } from "./keeper_note.ts";
import { hasRemains } from "./machines.ts";
import { ownerOfMemory, removeStrayMemory } from "./memory.ts";

/** Removes one orphan, unless a new look says that it is none any more. */
export async function removeOrphan(
  context: QemuContext,
  records: VmRecords,
  sandboxes: Sandboxes,
  orphan: Orphan,
  scope: CallScope,
): Promise<Removed> {
  if (orphan.kind === "keeper") return await removeKeeperNote(context, orphan);
  const owner = ownerOfMemory(orphan);
  if (owner !== undefined) return await removeStrayMemory(context, records, orphan, owner, scope);
  const vmId = parseVmId(orphan.id) ?? unfinishedId(orphan.id);
  await using lock = vmId === undefined
    ? undefined
    : await waitForVmLock(context, vmId, "removing", scope.signal);
  const now = await lookAgain(context, records, sandboxes, orphan, vmId);
  const about = { id: orphan.id, ...(orphan.name === undefined ? {} : { name: orphan.name }) };
  if (now !== undefined) return { ...about, removed: false, files: [], warnings: [now] };
  const removed = await take(context, records, sandboxes, orphan, lock, vmId, scope);
  return { ...removed, ...about };
}

/** Why it must stay; `undefined` when it is still what it was taken for. The caller holds the lock. */
async function lookAgain(
  context: QemuContext,
  records: VmRecords,
  sandboxes: Sandboxes,
  orphan: Orphan,
  vmId: string | undefined,
): Promise<string | undefined> {
  const listing = await records.list();
  const record = listing.records.find(({ id }) => id === vmId);
  switch (orphan.kind) {
    case "sandbox_expired":
    case "sandbox_abandoned":
      if (record === undefined) return "It is gone already";
      return await sandboxes.whyEnded(record) === undefined ? "It is in use" : undefined;
    case "folder_without_record":
      if (record !== undefined) return "It has a readable record again";
      return [...listing.damaged, ...listing.unfinished].some(({ name }) => name === orphan.id)
        ? undefined
        : "It is gone already";
    case "keeper":
      return "It is no VM";
    case "helper":
      if (record === undefined) return "It is gone already";
      return (await helpersWithoutQemu(context, record)).length > 0 ? undefined : "It is gone already";
    case "runtime_folder":
    case "process":
      if (vmId === undefined || knownIds(listing).has(vmId)) return "It belongs to a VM again";
      return await hasRemains(context, vmId) ? undefined : "It is gone already";
  }
}

async function take(
  context: QemuContext,
  records: VmRecords,
  sandboxes: Sandboxes,
  orphan: Orphan,
  lock: VmLock | undefined,
  vmId: string | undefined,
  scope: CallScope,
): Promise<Removed> {
  const isUnfinished = unfinishedId(orphan.id) !== undefined;
  if (vmId === undefined || lock === undefined || isUnfinished) {
    const path = joinPath(context.state.vms, orphan.id);
    const files = (await filesUnder(context, path)).map((file) => file.path);
    await removeUnfinished(context, path);
    lock?.endWithVm();
    return { id: orphan.id, removed: true, files };
  }
  if (orphan.kind === "helper") return await endStrayHelpers(context, records, vmId, scope);
  sandboxes.release(vmId);
  const record = await records.find(vmId).catch(() => undefined);
  const runtime = record?.runtime ?? RuntimeFolder.of(context.host, vmId).path;
  return await removeUnderLock(context, lock, { id: vmId, runtime }, orphan.name, scope);
}
