/** Helpers that serve no machine: whoever started them was killed before their QEMU came. */

import type { Orphan, Removed } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { endHelpers, findHelpers, type HelperProcess } from "../launch/helpers.ts";
import { ProcessView, type QemuProcess } from "../identity.ts";
import type { RecordListing, VmRecord, VmRecords } from "../records.ts";
import { removeRuntimeFolder, RuntimeFolder } from "../runtime_folder.ts";
import { belongings, isLocked } from "./belongings.ts";

/** Helpers of VMs that are off: whoever started them was killed before their QEMU came. */
export async function strayHelpers(
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

/** The helpers of a VM that has no QEMU. */
export async function helpersWithoutQemu(context: QemuContext, record: VmRecord): Promise<HelperProcess[]> {
  if (await new ProcessView(context).find(record.id) !== undefined) return [];
  const folder = helperFolder(context, record);
  return (await findHelpers(context)).filter(({ runtime }) => runtime === folder);
}

/** Ends the helpers of a VM that has no QEMU; the caller holds its lock. */
export async function endStrayHelpers(
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
