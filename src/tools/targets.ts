/** From what the caller wrote to the objects that it names, observed now. */

import { HvError, toHvError } from "../base/errors.ts";
import { parseVmId } from "../base/ids.ts";
import { suggest } from "../base/suggest.ts";
import type { Vm } from "../contract/vm.ts";
import type { DamagedVm, Driver, VmListing } from "../drivers/driver.ts";

/** A VM as the caller named it: seen, or with the reason why nothing can be done with it. */
export type Target =
  | { reference: string; vm: Vm; error?: undefined }
  | { reference: string; vm?: undefined; error: HvError };

/**
 * Finds the VMs that ids, bare uuids or exact names refer to, each once, in one look. A target fails with
 * `hv.not_found` and the nearest name, with `hv.ambiguous` and all ids when several VMs bear the name, with `hv.io`
 * when it is the id of a VM whose record is damaged, or with what `allow` throws for it.
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

function findVm(listing: VmListing, reference: string): Vm {
  const { vms, damaged = [] } = listing;
  const id = parseVmId(reference);
  const byId = vms.find((vm) => vm.id === id);
  if (byId !== undefined) return byId;
  const damagedById = damaged.find((vm) => vm.id === id);
  if (damagedById !== undefined) throw unreadable(damagedById);
  const [vm, ...others] = vms.filter((candidate) => candidate.name === reference);
  if (vm === undefined) throw notFound(listing, reference);
  if (others.length === 0) return vm;
  const ids = [vm, ...others].map((candidate) => candidate.id);
  throw new HvError("hv.ambiguous", `${ids.length} VMs have the name "${reference}"`, {
    hint: "Use the id of the one that you mean",
    context: { vm: reference, ids },
  });
}

/** A VM that is there, of which nothing can be told and with which nothing can be done. */
function unreadable({ id, record, reason, pid }: DamagedVm): HvError {
  const running = pid === undefined ? "" : `; its machine runs as process ${pid}`;
  const ends = pid === undefined ? "" : " and ends its process";
  return new HvError("hv.io", `The record "${record}" of the VM "${id}" is damaged: ${reason}${running}`, {
    hint: `Repair the record, or see \`hvlab vm orphans\`; \`hvlab vm cleanup\` removes the VM${ends}`,
    context: { vm: id, record, reason, ...(pid === undefined ? {} : { pid }) },
  });
}

/** A VM whose record is damaged may be the one with that name: it counts as not looked at. Its id is known. */
function notFound({ vms, warnings, damaged = [] }: VmListing, reference: string): HvError {
  const near = suggest(reference, vms.map(({ name }) => name));
  const told = { vm: reference, ...(warnings.length === 0 ? {} : { warnings }) };
  if (damaged.length === 0 || parseVmId(reference) !== undefined) {
    return new HvError("hv.not_found", `There is no VM "${reference}"`, {
      hint: near === undefined ? "List the VMs with `hvlab vm list`" : `Did you mean "${near}"?`,
      context: told,
    });
  }
  const among = `among those whose records can be read; ${damaged.length} cannot`;
  const guess = near === undefined ? "" : `; or did you mean "${near}"?`;
  return new HvError("hv.not_found", `There is no VM "${reference}" ${among}`, {
    hint: `A VM whose record is damaged may have that name: see \`hvlab vm orphans\`${guess}`,
    context: { ...told, damaged: damaged.map((vm) => ({ ...vm })) },
  });
}
