/** A file of this host in a running guest as a read-only disk, for a moment: the fastest way in for many bytes. */

import { joinPath } from "../../../base/paths.ts";
import type { CallScope } from "../../call_scope.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecords } from "../records.ts";
import { guestFolder } from "../ssh.ts";
import { takeVmLock } from "../vm_lock.ts";
import { attachedBlocks, plugIn, unplug } from "./live.ts";

/**
 * Plugs a file in and takes it out again, whatever comes of the work; it is in nobody's record. The VM is held only while its
 * machine changes. Throws `hv.conflict` when no slot is free, and `hv.timeout` when the guest does not let go.
 */
export async function lendFile<T>(
  context: QemuContext,
  records: VmRecords,
  id: string,
  path: string,
  work: (serial: string) => Promise<T>,
  scope: CallScope,
): Promise<T> {
  const real = await context.host.files.realPath(path);
  const record = await records.get(id);
  refuseAdopted(record, "plug a disk into");
  const monitor = new VmMonitor(context, record);
  const key = crypto.randomUUID().slice(0, 8);
  const mark = joinPath(lentFolder(context, id), key);
  // It is free once this process has ended, however that was.
  using _lent = await context.host.locks.tryTake(mark);
  {
    await using _vm = await takeVmLock(context, id, "configuring", "idle");
    const size = BigInt((await context.host.files.stat(real))?.size_bytes ?? 0);
    await plugIn(monitor, key, [{ path: real, header: { format: "raw", type: "fixed", size } }], true);
  }
  try {
    return await work(key);
  } finally {
    await using _vm = await takeVmLock(context, id, "configuring", "idle");
    // A call that has been given up has to give the disk back none the less.
    const patient = { signal: AbortSignal.timeout(UNPLUG_LIMIT_MS), progress: scope.progress };
    await takeOut(monitor, key, patient);
    await context.host.files.remove(mark);
  }
}

/** Takes out what calls had lent that were killed. */
export async function takeBackLent(
  context: QemuContext,
  records: VmRecords,
  id: string,
  scope: CallScope,
): Promise<void> {
  const { host } = context;
  const folder = lentFolder(context, id);
  if (await host.files.stat(folder) === undefined) return;
  for (const { name: key } of await host.files.list(folder)) {
    const mark = joinPath(folder, key);
    using free = await host.locks.tryTake(mark, { folderMustExist: true });
    if (free === undefined) continue;
    await using _vm = await takeVmLock(context, id, "configuring", "idle");
    await takeOut(new VmMonitor(context, await records.get(id)), key, scope);
    await host.files.remove(mark);
  }
}

/** One empty file for each disk that is lent, locked by who lends it. */
function lentFolder(context: QemuContext, id: string): string {
  return joinPath(guestFolder(context, id), "lent");
}

async function takeOut(monitor: VmMonitor, key: string, scope: CallScope): Promise<void> {
  const block = (await attachedBlocks(monitor)).find((candidate) => candidate.key === key);
  if (block !== undefined) await unplug(monitor, block, scope);
}

const UNPLUG_LIMIT_MS = 20_000;
