/** A file of this host in a running guest as a read-only disk, for a moment: the fastest way in for many bytes. */

import { startDeadline } from "../../../base/deadline.ts";
import { toHvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { CallScope } from "../../call_scope.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecords } from "../records.ts";
import { guestFolder, openGuestFolder } from "../ssh.ts";
import { takeVmLock, waitForVmLock } from "../vm_lock.ts";
import { attachedBlocks, plugIn, unplug } from "./live.ts";

const UNPLUG_LIMIT_MS = 20_000;
/** Another copy may be taking its disk out. */
const TURN_LIMIT_MS = 2 * UNPLUG_LIMIT_MS;

/**
 * Plugs a file in and takes it out again, whatever comes of the work; it is in nobody's record. The VM is held only while its
 * machine changes. Throws `hv.conflict` when another call holds it or no slot is free. A disk that cannot be taken out
 * again costs a warning and not the work's result: the next copy takes it out.
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
  await openGuestFolder(context, id).make();
  await context.host.files.makeFolder(lentFolder(context, id), { parents: false });
  // It is free once this process has ended, however that was. A call that looks for such marks may have it for a moment.
  using _lent = await context.host.locks.take(mark, scope.signal, { folderMustExist: true });
  {
    await using _vm = await takeVmLock(context, id, "configuring", "idle");
    const size = BigInt((await context.host.files.stat(real))?.size_bytes ?? 0);
    await plugIn(monitor, key, [{ path: real, header: { format: "raw", type: "fixed", size } }], true);
  }
  try {
    return await work(key);
  } finally {
    try {
      await giveBack(monitor, key, mark, scope);
    } catch (error) {
      scope.warn?.(`The disk lent to the guest could not be taken out again: ${toHvError(error).message}`);
    }
  }
}

/** A call that has been given up has to give the disk back none the less, and waits for others at work on the VM. */
async function giveBack(
  monitor: VmMonitor,
  key: string,
  mark: string,
  { progress }: CallScope,
): Promise<void> {
  const { context, vm } = monitor;
  const { clock, files } = context.host;
  using turn = startDeadline(clock, TURN_LIMIT_MS);
  await using _vm = await waitForVmLock(context, vm.id, "configuring", turn.signal);
  using limit = startDeadline(clock, UNPLUG_LIMIT_MS);
  await takeOut(monitor, key, { signal: limit.signal, progress });
  await files.remove(mark);
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
