/** Names of VMs, which Hyper-V lets several VMs share and hvlab does not. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { HyperV } from "../client.ts";

/** Whoever gives a VM a name holds this, so that no two calls of ours give the same one. */
export function takeNames(hyperv: HyperV, state: StateFolder, signal: AbortSignal): Promise<Disposable> {
  return hyperv.host.locks.take(joinPath(state.locks, "hyperv_names.lock"), signal);
}

/** Throws `hv.conflict` when a VM other than `except` has the name. */
export async function refuseTakenName(
  hyperv: HyperV,
  name: string,
  signal: AbortSignal,
  except?: string,
): Promise<void> {
  const { machines } = await hyperv.listMachines(signal);
  const other = machines.find((machine) => machine.name === name && `vm-${machine.id}` !== except);
  if (other === undefined) return;
  throw new HvError("hv.conflict", `The VM name "${name}" is taken by vm-${other.id}`, {
    hint: "Choose another name, or remove that VM first",
    context: { name, vm: `vm-${other.id}`, wanted: "free", found: "taken" },
  });
}
