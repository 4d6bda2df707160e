/** The network cards of VMs. */

import { HvError } from "../../../base/errors.ts";
import type { VmRecord } from "../records.ts";

/** QEMU's name for the network behind the host; `undefined` when the VM has no card on it. */
export function userNetdev({ network }: VmRecord): string | undefined {
  return network === false ? undefined : "net-0";
}

/** The same, for what cannot do without it. Throws `hv.conflict`. */
export function needUserNetdev(record: VmRecord): string {
  const netdev = userNetdev(record);
  if (netdev !== undefined) return netdev;
  const { id, name } = record;
  throw new HvError("hv.conflict", `No port leads to "${name}": it has no network card behind the host`, {
    hint: "Make a VM with a network card",
    context: { vm: id, wanted: "a network card behind the host", found: "none" },
  });
}
