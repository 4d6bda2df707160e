/** Saved memory that no checkpoint names: the call that wrote it was killed. */

import { parseVmId } from "../../../base/ids.ts";
import { nameOf } from "../../../base/paths.ts";
import type { Orphan, Removed } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import { readBook } from "../checkpoints/records.ts";
import { strayMemoryFiles, tidyUpSnapshots } from "../checkpoints/tidy.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { waitForVmLock } from "../vm_lock.ts";
import { belongings, isLocked } from "./belongings.ts";

/** Between a VM's id and the name of a file in its folder. */
const IN_FOLDER = "/memory/";

/** The VM in whose folder a file of memory lies that no record names. */
export function ownerOfMemory({ kind, id }: Orphan): string | undefined {
  if (kind !== "folder_without_record" || !id.includes(IN_FOLDER)) return undefined;
  return parseVmId(id.slice(0, id.indexOf(IN_FOLDER)));
}

/** Memory that a killed `checkpoint create` left behind. A damaged list of checkpoints says nothing about what is a leftover. */
export async function strayMemory(context: QemuContext, record: VmRecord): Promise<Orphan[]> {
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
export async function removeStrayMemory(
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
