/** A new VM of another one's disks. */

import { newVmId } from "../../../base/ids.ts";
import { joinPath, nameOf } from "../../../base/paths.ts";
import type { DiskMoment } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import type { QemuContext } from "../context.ts";
import { bringIntoBeing, newRecord } from "../creation.ts";
import { proveBase } from "../disks/at_start.ts";
import { withNewMac } from "../network/mac_addresses.ts";
import { afterNextStart, type VmRecord, type VmRecords } from "../records.ts";
import { observe } from "../observe.ts";
import { copyTpm, refuseBusyTpm } from "../launch/tpm.ts";
import { takeVmLock } from "../vm_lock.ts";
import { copyDisks } from "./disk_copy.ts";

/**
 * Makes it: off, with disks that lean on the same image, without memory, checkpoints and lease. Throws `hv.bad_image`
 * when the image's disk is not what it was.
 */
export async function cloneVm(
  context: QemuContext,
  records: VmRecords,
  source: string,
  name: string,
  scope: CallScope,
): Promise<{ id: string; disks?: DiskMoment }> {
  await records.get(source);
  await using _lock = await takeVmLock(context, source, "copying", "idle");
  const stored = await records.get(source);
  refuseAdopted(stored, "clone");
  const record = await proveBase(context, stored, scope.signal);
  if (record.tpm) refuseBusyTpm(record, await observe(context, record, scope.signal), "clone");
  for (const { path } of record.disks ?? []) {
    scope.warn?.(`The attached disk "${path}" is no part of the clone: attach a copy of it`);
  }
  const id = newVmId();
  let disks: DiskMoment | undefined;
  await bringIntoBeing(context, records, id, async (folder) => {
    const targetOf = ({ path }: { path: string }): string => joinPath(folder, nameOf(path));
    const { copies, moment } = await copyDisks(context, record, targetOf, "leaning", scope);
    disks = moment;
    await copyOwnBootFiles(context, record, folder);
    await copyTpm(context, record, folder);
    return cloneRecord(context, record, id, name, copies.length > 0);
  }, scope);
  return { id, ...(disks === undefined ? {} : { disks }) };
}

async function copyOwnBootFiles(context: QemuContext, record: VmRecord, folder: string): Promise<void> {
  const { boot } = record;
  if (boot === undefined) return;
  const home = context.state.vm(record.id);
  for (const file of [boot.kernel, boot.initrd]) {
    if (file !== undefined) await context.host.files.copy(joinPath(home, file), joinPath(folder, file));
  }
}

function cloneRecord(
  context: QemuContext,
  source: VmRecord,
  id: string,
  name: string,
  hasDisk: boolean,
): VmRecord {
  const { version } = context;
  const {
    image,
    memory_mb,
    cpus,
    machine,
    boot,
    data_disk,
    firmware,
    iso,
    dvd,
    network,
    nics,
    shares,
    tpm,
    watchdog,
    on_crash,
    panic_on,
    template,
  } = afterNextStart(source);
  return {
    ...newRecord(context, id, name),
    ...(version === undefined ? {} : { made_by: version }),
    ...(image === undefined ? {} : { image }),
    memory_mb,
    cpus,
    machine,
    ...(boot === undefined ? {} : { boot }),
    ...(data_disk === undefined ? {} : { data_disk }),
    ...(firmware === undefined ? {} : { firmware }),
    ...(iso === undefined ? {} : { iso }),
    ...(dvd === undefined ? {} : { dvd }),
    ...(source.base === undefined ? {} : { base: source.base }),
    ...(network === undefined ? {} : { network }),
    ...(nics === undefined ? {} : { nics: nics.map(withNewMac) }),
    ...(shares === undefined ? {} : { shares }),
    ...(tpm === undefined ? {} : { tpm }),
    ...(watchdog === undefined ? {} : { watchdog }),
    ...(on_crash === undefined ? {} : { on_crash }),
    ...(panic_on === undefined ? {} : { panic_on }),
    // Its disk hangs on the template's, which must stay as long as the clone.
    ...(template === undefined || !hasDisk ? {} : { template }),
  };
}
