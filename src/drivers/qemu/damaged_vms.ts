/** VMs whose record cannot be read: each may have any name, and use any disk, image, template or switch. */

import { HvError } from "../../base/errors.ts";
import { parseVmId } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { joinPath } from "../../base/paths.ts";
import type { DamagedVm } from "../driver.ts";
import type { QemuContext } from "./context.ts";
import { isOfState, type ProcessView } from "./identity.ts";
import { RECORD_FILE, type RecordListing, VmRecords } from "./records.ts";

/** The VMs among the folders without a readable record; what is not named as a VM's folder is none. */
export function damagedVms({ damaged }: Pick<RecordListing, "damaged">): DamagedVm[] {
  return damaged
    .filter(({ name }) => parseVmId(name) === name)
    .map(({ name, path, reason }) => ({ id: name, record: joinPath(path, RECORD_FILE), reason }));
}

/** The same VMs, each with the process that runs it. */
export async function seeDamagedVms(
  context: QemuContext,
  listing: Pick<RecordListing, "damaged">,
  processes: ProcessView,
): Promise<DamagedVm[]> {
  return await Promise.all(
    damagedVms(listing).map(async (vm) => {
      const process = await processes.find(vm.id);
      return process === undefined || !isOfState(context, process) ? vm : { ...vm, pid: process.pid };
    }),
  );
}

/**
 * Throws `hv.io` that names the first record that cannot be read, before something goes that no readable record needs.
 * `action` says what is refused, `risk` what that VM may do with it; both stand in the message, `facts` in the context.
 */
export async function refuseDamagedVms(
  context: QemuContext,
  action: string,
  risk: string,
  facts: JsonObject,
): Promise<void> {
  const [vm] = damagedVms(await new VmRecords(context).list());
  if (vm === undefined) return;
  const { id, record, reason } = vm;
  throw new HvError(
    "hv.io",
    `Cannot ${action}: the record "${record}" of a VM is damaged (${reason}), and that VM may ${risk}`,
    {
      hint:
        "Repair the record, or look with `hvlab vm orphans` and remove what is left with `hvlab vm cleanup`",
      context: { ...facts, record, vm: id, reason },
    },
  );
}
