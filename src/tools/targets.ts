/** From what the caller wrote to the objects that it names, observed now. */

import { HvError, toHvError } from "../base/errors.ts";
import { parseVmId } from "../base/ids.ts";
import { suggest } from "../base/suggest.ts";
import type { Vm } from "../contract/vm.ts";
import type { Driver, VmListing } from "../drivers/driver.ts";

/** A VM as the caller named it: seen, or with the reason why nothing can be done with it. */
export type Target =
  | { reference: string; vm: Vm; error?: undefined }
  | { reference: string; vm?: undefined; error: HvError };

/**
 * Finds the VMs that ids, bare uuids or exact names refer to, each once, in one look. A target fails with
 * `hv.not_found` and the nearest name, with `hv.ambiguous` and all ids when several VMs bear the name, or with what
 * `allow` throws for it.
 */
export async function resolveVms(
  driver: Driver,
  references: readonly string[],
  allow: (vm: Vm) => void,
  signal: AbortSignal,
): Promise<Target[]> {
  const listing = await driver.vms.list(signal);
  const targets: Target[] = [];
  for (const reference of references) {
    try {
      const vm = findVm(listing, reference);
      allow(vm);
      if (!targets.some((target) => target.vm?.id === vm.id)) targets.push({ reference, vm });
    } catch (error) {
      targets.push({ reference, error: toHvError(error) });
    }
  }
  return targets;
}

/** How the VMs of a call stand where one text is wanted; `undefined` without any. */
export function idsOf(vms: readonly Vm[]): string | undefined {
  return vms.length === 0 ? undefined : vms.map(({ id }) => id).join(" ");
}

function findVm({ vms, warnings }: VmListing, reference: string): Vm {
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
  if (others.length === 0) return vm;
  const ids = [vm, ...others].map((candidate) => candidate.id);
  throw new HvError("hv.ambiguous", `${ids.length} VMs have the name "${reference}"`, {
    hint: "Use the id of the one that you mean",
    context: { vm: reference, ids },
  });
}
