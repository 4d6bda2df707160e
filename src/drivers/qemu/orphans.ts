/** What hvlab left behind, found by record, folder and process; each is looked at again before it is removed. */

import { parseVmId } from "../../base/ids.ts";
import { joinPath, nameOf } from "../../base/paths.ts";
import type { Orphan, Removed } from "../../contract/vm.ts";
import type { CallScope } from "../call_scope.ts";
import { readBook } from "./checkpoints/records.ts";
import { strayMemoryFiles, tidyUpSnapshots } from "./checkpoints/tidy.ts";
import { VmMonitor } from "./checkpoints/vm_monitor.ts";
import type { QemuContext } from "./context.ts";
import { endHelpers, findHelpers, type HelperProcess } from "./helpers.ts";
import { isOfState, ProcessView, type QemuProcess } from "./identity.ts";
import { observe } from "./observe.ts";
import type { RecordListing, StrayFolder, VmRecord, VmRecords } from "./records.ts";
import { filesUnder, removeUnderLock, removeUnfinished, unfinishedId } from "./removal.ts";
import { readRuntimeOwner, removeRuntimeFolder, RuntimeFolder } from "./runtime_folder.ts";
import type { Sandboxes } from "./sandboxes.ts";
import { forgetKeeperWish, seeKeeper } from "../../state/keeper_mark.ts";
import { lockPath, type VmLock, waitForVmLock } from "./vm_lock.ts";

/** Finds everything of this state folder that no VM needs. Changes nothing. */
export async function findOrphans(
  context: QemuContext,
  records: VmRecords,
  sandboxes: Sandboxes,
): Promise<Orphan[]> {
  const listing = await records.list();
  const processes = (await new ProcessView(context).all()).filter((process) => isOfState(context, process));
  const found: Orphan[] = [];
  for (const record of listing.records) {
    const ended = await sandboxes.whyEnded(record);
    if (ended !== undefined) found.push(await endedSandbox(context, record, ended, processes));
  }
  for (const folder of [...listing.damaged, ...listing.unfinished]) {
    if (await isAbandoned(context, folder)) found.push(await strayFolder(context, folder, processes));
  }
  for (const record of listing.records) found.push(...await strayMemory(context, record));
  found.push(...await strayHelpers(context, listing, processes));
  const known = knownIds(listing);
  const strays = processes.filter(({ id }) => !known.has(id));
  for (const process of strays) found.push(await strayProcess(context, process));
  for (const process of strays) known.add(process.id);
  found.push(...await strayRuntimeFolders(context, known), ...await deadKeeper(context));
  return found;
}

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

async function hasRemains(context: QemuContext, id: string): Promise<boolean> {
  return await context.host.files.stat(RuntimeFolder.of(context.host, id).path) !== undefined ||
    await new ProcessView(context).find(id) !== undefined;
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

/** Between a VM's id and the name of a file in its folder. */
const IN_FOLDER = "/memory/";

/** The VM in whose folder a file of memory lies that no record names. */
function ownerOfMemory({ kind, id }: Orphan): string | undefined {
  if (kind !== "folder_without_record" || !id.includes(IN_FOLDER)) return undefined;
  return parseVmId(id.slice(0, id.indexOf(IN_FOLDER)));
}

/** Memory that a killed `checkpoint create` left behind. A damaged list of checkpoints says nothing about what is a leftover. */
async function strayMemory(context: QemuContext, record: VmRecord): Promise<Orphan[]> {
  const book = await readBook(context, record.id).catch(() => undefined);
  if (book === undefined) return [];
  const paths = await strayMemoryFiles(context, record, book);
  if (paths.length === 0 || await isLocked(context, record.id)) return [];
  return await Promise.all(paths.map(async (path) => ({
    kind: "folder_without_record" as const,
    id: `${record.id}${IN_FOLDER}${nameOf(path)}`,
    name: record.name,
    ...await belongings(context, [path]),
    reason: "No checkpoint names this saved memory: the call that wrote it did not end",
  })));
}

/** Takes away all that no checkpoint of the VM names; the VM itself stays. */
async function removeStrayMemory(
  context: QemuContext,
  records: VmRecords,
  { id, name, paths }: Orphan,
  vm: string,
  { signal }: CallScope,
): Promise<Removed> {
  await using lock = await waitForVmLock(context, vm, "checkpointing", signal);
  const about = { id, ...(name === undefined ? {} : { name }) };
  const stays = (why: string): Removed => ({ ...about, removed: false, files: [], warnings: [why] });
  const record = await records.find(vm);
  if (record === undefined) {
    lock.endWithVm();
    return stays("It is gone already");
  }
  const book = await readBook(context, vm);
  const strays = await strayMemoryFiles(context, record, book);
  const files = paths.filter((path) => strays.includes(path));
  if (files.length === 0) return stays("It is gone already, or a checkpoint names it");
  const seen = await observe(context, record, signal);
  if (seen.alive && seen.status === undefined) return stays(`Its VM is ${seen.state} and does not answer`);
  const monitor = seen.alive ? new VmMonitor(context, record) : undefined;
  await tidyUpSnapshots(context, record, book, monitor, signal);
  return { ...about, removed: true, files };
}

/** The note of a keeper that was killed; what it kept is found by itself. */
async function deadKeeper(context: QemuContext): Promise<Orphan[]> {
  const { alive, wanted, facts } = await seeKeeper(context.host, context.state);
  if (alive || !wanted) return [];
  return [{
    kind: "keeper",
    id: "keeper",
    ...await belongings(context, [context.state.keeperWish]),
    reason: facts === undefined
      ? "A keeper was asked for and never began"
      : `The keeper, process ${facts.pid}, was killed; the next change starts another one if it is needed`,
  }];
}

async function removeKeeperNote(context: QemuContext, { id, paths }: Orphan): Promise<Removed> {
  const [found] = await deadKeeper(context);
  if (found === undefined) return { id, removed: false, files: [], warnings: ["A keeper has come back"] };
  await forgetKeeperWish(context.host, context.state);
  return { id, removed: true, files: paths };
}

function knownIds({ records, damaged }: RecordListing): Set<string> {
  return new Set([...records.map(({ id }) => id), ...damaged.map(({ name }) => name)]);
}

/** A folder that a call is at work in is nobody's leftover: the call holds the VM's lock. */
async function isAbandoned(context: QemuContext, { name }: StrayFolder): Promise<boolean> {
  const id = unfinishedId(name);
  if (id === undefined) return true;
  using lock = await context.host.locks.tryTake(lockPath(context, id));
  return lock !== undefined;
}

async function endedSandbox(
  context: QemuContext,
  record: VmRecord,
  { kind, reason }: { kind: "sandbox_expired" | "sandbox_abandoned"; reason: string },
  processes: readonly QemuProcess[],
): Promise<Orphan> {
  const runtime = new RuntimeFolder(record.runtime);
  return {
    kind,
    id: record.id,
    name: record.name,
    ...await belongings(context, [context.state.vm(record.id), runtime.path]),
    ...pidOf(processes, record.id),
    reason,
  };
}

async function strayFolder(
  context: QemuContext,
  { name, path, reason }: StrayFolder,
  processes: readonly QemuProcess[],
): Promise<Orphan> {
  return {
    kind: "folder_without_record",
    id: name,
    ...await belongings(context, [path]),
    ...pidOf(processes, name),
    reason,
  };
}

async function strayProcess(context: QemuContext, process: QemuProcess): Promise<Orphan> {
  const runtime = RuntimeFolder.of(context.host, process.id);
  return {
    kind: "process",
    id: process.id,
    ...await belongings(context, [runtime.path]),
    pid: process.pid,
    reason: "A QEMU of this state folder runs without a VM's record",
  };
}

/** Helpers of VMs that are off: whoever started them was killed before their QEMU came. */
async function strayHelpers(
  context: QemuContext,
  { records }: RecordListing,
  processes: readonly QemuProcess[],
): Promise<Orphan[]> {
  const helped = records.filter(({ shares, tpm }) => shares !== undefined || tpm === true);
  if (helped.length === 0) return [];
  const helpers = await findHelpers(context);
  const found: Orphan[] = [];
  for (const record of helped) {
    if (processes.some(({ id }) => id === record.id) || await isLocked(context, record.id)) continue;
    for (
      const { pid, socket } of helpers.filter(({ runtime }) => runtime === helperFolder(context, record))
    ) {
      const reason = `Process ${pid} serves a machine that does not run`;
      found.push({
        kind: "helper",
        id: record.id,
        name: record.name,
        ...await belongings(context, [socket]),
        pid,
        reason,
      });
    }
  }
  return found;
}

/** A start that was killed has not written its folder into the record. */
function helperFolder({ host }: QemuContext, { id }: VmRecord): string {
  return RuntimeFolder.of(host, id).path;
}

async function helpersWithoutQemu(context: QemuContext, record: VmRecord): Promise<HelperProcess[]> {
  if (await new ProcessView(context).find(record.id) !== undefined) return [];
  const folder = helperFolder(context, record);
  return (await findHelpers(context)).filter(({ runtime }) => runtime === folder);
}

async function endStrayHelpers(
  context: QemuContext,
  records: VmRecords,
  vmId: string,
  { signal }: CallScope,
): Promise<Removed> {
  const record = await records.get(vmId);
  const runtime = new RuntimeFolder(helperFolder(context, record));
  await endHelpers(context, runtime.path, signal);
  const hasGone = await removeRuntimeFolder(context.host, runtime);
  return { id: vmId, removed: true, files: hasGone ? [runtime.path] : [] };
}

/** Runtime folders that name this state folder and a VM that it does not have. Others are other people's. */
async function strayRuntimeFolders(context: QemuContext, known: ReadonlySet<string>): Promise<Orphan[]> {
  const { host, state } = context;
  const root = host.environment.runtimeFolder();
  if ((await host.files.stat(root))?.kind !== "folder") return [];
  const found: Orphan[] = [];
  for (const { name, kind } of await host.files.list(root)) {
    if (kind !== "folder") continue;
    const folder = new RuntimeFolder(joinPath(root, name));
    const owner = await readRuntimeOwner(host, folder);
    if (owner === undefined || owner.state !== state.root || known.has(owner.vm)) continue;
    const isBeingMade = await isLocked(context, owner.vm);
    if (isBeingMade) continue;
    found.push({
      kind: "runtime_folder",
      id: owner.vm,
      ...await belongings(context, [folder.path]),
      reason: "Its VM has no record any more",
    });
  }
  return found;
}

async function isLocked(context: QemuContext, id: string): Promise<boolean> {
  if (await context.host.files.stat(lockPath(context, id)) === undefined) return false;
  using lock = await context.host.locks.tryTake(lockPath(context, id));
  return lock === undefined;
}

function pidOf(processes: readonly QemuProcess[], id: string): { pid?: number } {
  const pid = processes.find((process) => process.id === id)?.pid;
  return pid === undefined ? {} : { pid };
}

/** The paths that exist, and what all files in them take on disk. */
async function belongings(
  context: QemuContext,
  candidates: readonly string[],
): Promise<{ paths: string[]; size_bytes: number }> {
  const paths: string[] = [];
  let size = 0;
  for (const path of candidates) {
    const facts = await context.host.files.stat(path);
    if (facts === undefined) continue;
    paths.push(path);
    if (facts.kind !== "folder") size += facts.allocated_bytes ?? facts.size_bytes;
    else for (const file of await filesUnder(context, path)) size += file.size_bytes;
  }
  return { paths, size_bytes: size };
}
