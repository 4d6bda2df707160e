/** Changing a VM's size and name. */

import { HvError } from "../../base/errors.ts";
import type { VmChange } from "../../contract/vm.ts";
import type { StateFolder } from "../../state/layout.ts";
import type { CallScope } from "../driver.ts";
import type { HyperV } from "./client.ts";
import { refuseTakenName, takeNames } from "./names.ts";

const BYTES_PER_MIB = 1024 * 1024;

/** Changes a VM that is off; Hyper-V keeps no change for the next start. */
export async function configureVm(
  hyperv: HyperV,
  id: string,
  { memory_mb, cpus }: VmChange,
  scope: CallScope,
): Promise<{ now: string[]; at_next_start: string[] }> {
  if (memory_mb !== undefined && memory_mb % 2 !== 0) {
    throw new HvError("hv.usage", `Hyper-V gives no VM ${memory_mb} MiB: wanted an even number`, {
      hint: "Change --memory",
      context: { vm: id, memory_mb },
    });
  }
  const memory_bytes = memory_mb === undefined ? null : String(memory_mb * BYTES_PER_MIB);
  await hyperv.changeMachine("set_machine", id, { memory_bytes, cpus: cpus ?? null }, scope);
  const now = [...(memory_mb === undefined ? [] : ["memory_mb"]), ...(cpus === undefined ? [] : ["cpus"])];
  return { now, at_next_start: [] };
}

/** Gives a VM another name; its folder keeps its own. */
export async function renameVm(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  name: string,
  scope: CallScope,
): Promise<void> {
  using _names = await takeNames(hyperv, state, scope.signal);
  await refuseTakenName(hyperv, name, scope.signal, id);
  await hyperv.changeMachine("rename_machine", id, { name }, scope);
}
