/** Taking away what calls that were killed half-way left behind: memory without a record, snapshots without one. */

import type { QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";
import { disksOf, isOurTag, memoryFile, memoryTags, snapshotAtRest } from "./files.ts";
import { deleteLive } from "./live_disks.ts";
import type { CheckpointBook } from "./records.ts";
import { readSnapshots } from "./snapshot_table.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";

/**
 * Removes every memory and snapshot of hvlab's that no record names. The caller holds the VM's lock; `monitor` is
 * given when the machine lives.
 */
export async function tidyUpSnapshots(
  context: QemuContext,
  record: VmRecord,
  book: CheckpointBook,
  monitor: VmMonitor | undefined,
  signal: AbortSignal,
): Promise<void> {
  const known = new Set(book.checkpoints.map(({ id }) => id));
  if (record.saved !== undefined) known.add(record.saved.tag);
  await removeSnapshots(context, record.id, monitor, (tag) => isOurTag(tag) && !known.has(tag), signal);
}

/** Files of memory that neither a checkpoint nor the VM's record names: calls that were killed left them. */
export async function strayMemoryFiles(
  context: QemuContext,
  { id, saved }: VmRecord,
  { checkpoints }: CheckpointBook,
): Promise<string[]> {
  const known = new Set(checkpoints.map((checkpoint) => checkpoint.id));
  if (saved !== undefined) known.add(saved.tag);
  const strays = (await memoryTags(context, id)).filter((tag) => isOurTag(tag) && !known.has(tag));
  return strays.map((tag) => memoryFile(context, id, tag));
}

/** Removes memory and disk snapshots of some tags. */
export async function removeSnapshots(
  context: QemuContext,
  vm: string,
  monitor: VmMonitor | undefined,
  isDoomed: (tag: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  await monitor?.finishOldJobs();
  for (const tag of await memoryTags(context, vm)) {
    if (isDoomed(tag)) await context.host.files.remove(memoryFile(context, vm, tag));
  }
  const disks = await disksOf(context, vm);
  const doomed: { path: string; tag: string }[] = [];
  for (const { path } of disks) {
    const snapshots = await readSnapshots(context.host.files, path) ?? [];
    doomed.push(...snapshots.filter(({ tag }) => isDoomed(tag)).map(({ tag }) => ({ path, tag })));
  }
  if (doomed.length === 0) return;
  if (monitor !== undefined) return await deleteLive(monitor, disks.map(({ node }) => node), isDoomed);
  for (const { path, tag } of doomed) await snapshotAtRest(context, "delete", tag, path, signal);
}
