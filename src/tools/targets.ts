/** From what the caller wrote to the object that it names, observed now. */

import { HvError } from "../base/errors.ts";
import { parseVmId } from "../base/ids.ts";
import { suggest } from "../base/suggest.ts";
import type { Vm } from "../contract/vm.ts";
import type { Driver } from "../drivers/driver.ts";

/**
 * Finds the VM that an id, a bare uuid or an exact name refers to. Throws `hv.not_found` with the nearest name,
 * or `hv.ambiguous` with all ids when several VMs bear the name.
 */
export async function resolveVm(driver: Driver, reference: string, signal: AbortSignal): Promise<Vm> {
  const { vms, warnings } = await driver.vms.list(signal);
  const id = parseVmId(reference);
  const byId = vms.find((vm) => vm.id === id);
  if (byId !== undefined) return byId;
  const [vm, ...others] = vms.filter((candidate) => candidate.name === reference);
  if (vm === undefined) {
    const near = suggest(reference, vms.map((candidate) => candidate.name));
    throw new HvError("hv.not_found", `There is no VM "${reference}"`, {
      hint: near === undefined ? "List the VMs with `hvlab vm list`" : `Did you mean "${near}"?`,
      context: { vm: reference, ...(warnings.length === 0 ? {} : { warnings }) },
    });
  }
  if (others.length > 0) {
    const ids = [vm, ...others].map((candidate) => candidate.id);
    throw new HvError("hv.ambiguous", `${ids.length} VMs have the name "${reference}"`, {
      hint: "Use the id of the one that you mean",
      context: { vm: reference, ids },
    });
  }
  return vm;
}
