/** What cannot be done with VMs that somebody else made. */

import { HvError } from "../../../base/errors.ts";
import type { VmRecord } from "../records.ts";

/** Throws `hv.unsupported` for an adopted VM: hvlab knows neither how it was started nor what its disks are. */
export function refuseAdopted({ id, name, adopted }: VmRecord, action: string): void {
  if (adopted === undefined) return;
  throw new HvError("hv.unsupported", `Cannot ${action} "${name}": hvlab adopted it and did not make it`, {
    hint: "Use the program that made it; hvlab can observe, pause, resume and stop it, and reach its guest",
    context: { vm: id, monitor: adopted.monitor },
  });
}
