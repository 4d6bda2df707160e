/** Records that cannot be read: their VM or their disk may use any disk at all. */

import { HvError } from "../../../base/errors.ts";
import { parseVmId } from "../../../base/ids.ts";
import { joinPath } from "../../../base/paths.ts";
import type { QemuContext } from "../context.ts";
import { RECORD_FILE, VmRecords } from "../records.ts";
import { damagedBonds } from "./bonds.ts";

/**
 * Throws `hv.io` that names the first record that cannot be read, before something is done to a disk that nobody may be
 * using.
 */
export async function refuseUnknownUsers(context: QemuContext, path: string, action: string): Promise<void> {
  const { damaged } = await new VmRecords(context).list();
  const vm = damaged.find(({ name }) => parseVmId(name) === name);
  if (vm !== undefined) {
    const record = joinPath(vm.path, RECORD_FILE);
    throw new HvError(
      "hv.io",
      `Cannot ${action} "${path}": the record "${record}" of a VM is damaged (${vm.reason}), and that VM may have the disk`,
      {
        hint:
          "Repair the record, or look with `hvlab vm orphans` and remove what is left with `hvlab vm cleanup`",
        context: { path, record, vm: vm.name, reason: vm.reason },
      },
    );
  }
  const [bond] = await damagedBonds(context, path);
  if (bond === undefined) return;
  throw new HvError(
    "hv.io",
    `Cannot ${action} "${path}": the record "${bond}" of a differencing disk is damaged, and that disk may lean on it`,
    {
      hint: "Remove the record when you know that no disk leans on this one",
      context: { path, record: bond },
    },
  );
}
