/** Changing a VM's devices: under its lock, with its record and its machine seen anew. */

import { HvError } from "../../../base/errors.ts";
import type { CallScope } from "../../call_scope.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import { afterNextStart, type VmRecord, type VmRecords } from "../records.ts";
import { waitForVmLock } from "../vm_lock.ts";

/** Does one change. `work` gets the record, and whether there is a machine. Saved memory fits only the machine that it was saved of. */
export async function changeDevices(
  context: QemuContext,
  records: VmRecords,
  id: string,
  { signal }: CallScope,
  work: (record: VmRecord, isAlive: boolean) => Promise<void>,
): Promise<void> {
  await records.get(id);
  await using _lock = await waitForVmLock(context, id, "configuring", signal);
  const record = await records.get(id);
  refuseAdopted(record, "change the devices of");
  const { alive, state } = await observe(context, record, signal);
  if (state === "saved") {
    throw new HvError("hv.conflict", `Cannot change the devices of "${record.name}": its memory is saved`, {
      hint: `Resume it first: hvlab vm start ${id}`,
      context: { vm: id, wanted: "off or running", found: state },
    });
  }
  await work(alive ? record : afterNextStart(record), alive);
}
