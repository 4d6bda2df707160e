/** Folders of VMs that nobody needs: ended sandboxes, and what killed calls left half made. */

import type { Orphan } from "../../../contract/vm.ts";
import type { QemuContext } from "../context.ts";
import type { QemuProcess } from "../identity.ts";
import type { StrayFolder, VmRecord } from "../records.ts";
import { unfinishedId } from "../removal.ts";
import { RuntimeFolder } from "../runtime_folder.ts";
import { lockPath } from "../vm_lock.ts";
import { belongings, pidOf } from "./belongings.ts";

/** A folder that a call is at work in is nobody's leftover: the call holds the VM's lock. */
export async function isAbandoned(context: QemuContext, { name }: StrayFolder): Promise<boolean> {
  const id = unfinishedId(name);
  if (id === undefined) return true;
  using lock = await context.host.locks.tryTake(lockPath(context, id), { onlyLooks: true });
  return lock !== undefined;
}

/** A sandbox whose time or whose maker has ended. */
export async function endedSandbox(
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

/** A folder without a readable record. */
export async function strayFolder(
  context: QemuContext,
  { name, path, reason }: StrayFolder,
  processes: readonly QemuProcess[],
): Promise<Orphan> {
  const { pid } = pidOf(processes, name);
  return {
    kind: "folder_without_record",
    id: name,
    ...await belongings(context, [path]),
    ...(pid === undefined ? { reason } : { pid, reason: `${reason}; its machine runs as process ${pid}` }),
  };
}
