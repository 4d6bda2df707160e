/** Removing a VM, and saying before that what it would cost. */

import type { Loss } from "../../../contract/plan.ts";
import type { Removed } from "../../../contract/vm.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { RemovalOptions } from "../../driver.ts";
import { forgetVm } from "../machines/adoption.ts";
import type { MachineDisks } from "../answers.ts";
import type { HyperV } from "../client.ts";
import { endVmLocks } from "../machines/locks.ts";
import { readTag } from "../machines/tag.ts";

/**
 * Powers off, removes the VM and, unless they are to be kept, the disks in its own folder. An adopted VM is only
 * forgotten. Throws `hv.conflict` when disks of other VMs hang on those in the folder.
 */
export async function removeVm(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  { keep_disks = false }: RemovalOptions,
  scope: CallScope,
): Promise<Removed> {
  const { notes, name } = await hyperv.getMachine(id, scope.signal);
  const tag = readTag(notes);
  if (tag?.adopted) {
    await forgetVm(hyperv, state, id, scope);
    return { id, name, removed: true, files: [] };
  }
  const own = tag === undefined ? {} : { folder: tag.key };
  const { files, kept, warnings } = await hyperv.removeMachine(
    id,
    { ...own, keep_disks, alone: tag?.sandbox !== undefined },
    scope,
  );
  await endVmLocks(hyperv, state, id);
  return {
    id,
    name,
    removed: true,
    files,
    ...(kept.length === 0 ? {} : { kept }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/**
 * What a removal would take: the configuration, saved memory, the checkpoints, and the disks in the VM's own folder.
 */
export async function lossesOf(
  hyperv: HyperV,
  id: string,
  { keep_disks = false }: RemovalOptions,
  signal: AbortSignal,
): Promise<Loss[]> {
  const { notes } = await hyperv.getMachine(id, signal);
  const tag = readTag(notes);
  if (tag?.adopted) return [];
  const seen = await hyperv.disks(id, tag?.key, signal);
  const { checkpoints } = await hyperv.checkpoints(id, signal);
  const losses: Loss[] = [{ what: `the configuration of "${seen.machine.name}"` }];
  if (seen.machine.state === "Saved") losses.push({ what: `the memory that "${seen.machine.name}" saved` });
  for (const { name } of checkpoints) losses.push({ what: `the checkpoint "${name}"` });
  losses.push(...diskLosses(seen, keep_disks));
  for (const { name, vm, path } of seen.dependants) {
    losses.push({
      what: `the disk of "${name}" (${vm}), which hangs on this VM's; the call is refused until it is gone`,
      path,
    });
  }
  for (const path of seen.unread) {
    losses.push({
      what: "perhaps this disk, whose parent cannot be read; this VM's disks stay for its sake",
      path,
    });
  }
  return losses;
}

function diskLosses({ disks }: MachineDisks, keep_disks: boolean): Loss[] {
  return disks.map(({ path, size_bytes, own }) => {
    if (!own) return { what: "nothing of this disk: it lies outside the VM's own folder and stays", path };
    if (keep_disks) return { what: "nothing of this disk: it is kept where it is", path };
    return { what: "disk", path, ...(size_bytes === null ? {} : { size_bytes: Number(size_bytes) }) };
  });
}
