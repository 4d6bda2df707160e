/** A ready clone as the pool sees it: a sandbox whose record says that it is nobody's yet. */

import { HvError } from "../../../base/errors.ts";
import type { QemuContext } from "../context.ts";
import { askMonitor } from "../monitor/monitors.ts";
import { type VmRecord, VmRecords } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";

/** The members of an image's pool, oldest first. */
export async function membersOf(context: QemuContext, image: string): Promise<VmRecord[]> {
  const { records } = await new VmRecords(context).list();
  return records.filter((record) => record.image === image && record.template?.pooled === true);
}

/** Tells the QEMU of a pool's member one word. */
export async function tellQemu(
  context: QemuContext,
  { id, runtime }: VmRecord,
  command: "stop" | "cont",
  signal: AbortSignal,
): Promise<void> {
  const heard = await askMonitor(context.host, id, new RuntimeFolder(runtime), async (session) => {
    await session.command(command, undefined, { signal });
    return {};
  }, { signal });
  if (heard !== undefined) return;
  throw new HvError("hv.unavailable", `The QEMU of ${id} has ended`, { hint: "Nothing need be done" });
}
