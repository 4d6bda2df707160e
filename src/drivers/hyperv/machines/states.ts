/** From Hyper-V's numbers for a VM's state to ours. */

import type { VmState } from "../../../contract/vm.ts";

/** A VM's state and, where it needs one, the reason. */
export interface SeenState {
  state: VmState;
  reason?: string;
}

/** VMState by number; the texts are localised nowhere but the numbers are what the module promises. */
const BY_NUMBER: ReadonlyMap<number, VmState> = new Map<number, VmState>([
  [2, "running"],
  [3, "off"],
  [4, "stopping"],
  [6, "saved"],
  [9, "paused"],
  [10, "starting"],
  [11, "resetting"],
  [32773, "saving"],
  [32776, "pausing"],
  [32777, "starting"], // Resuming
  [32779, "saved"], // FastSaved
  [32780, "saving"], // FastSaving
  [32781, "stopping"], // ForceShutdown
  [32782, "resetting"], // ForceReboot
  [32783, "saved"], // Hibernated
  [32784, "stopping"], // ComponentServicing
]);

/** RunningCritical to FastSavingCritical: Hyper-V cannot reach the VM's storage. */
const FIRST_CRITICAL = 32785;
const LAST_CRITICAL = 32796;

/** MergingDisks, one of the operational statuses. */
const MERGING = 32772;

/** The state of a VM. A number that nobody knows is `unknown`, never a failure. */
export function stateOf(number: number, name: string, statuses: readonly number[]): SeenState {
  if (number >= FIRST_CRITICAL && number <= LAST_CRITICAL) {
    return { state: "io_error", reason: `Hyper-V cannot reach the VM's storage (${name})` };
  }
  const state = BY_NUMBER.get(number);
  if (state === undefined) {
    return {
      state: "unknown",
      reason: `Hyper-V reports a state that hvlab does not know: ${number} "${name}"`,
    };
  }
  // A machine that is off cannot start before its disks are merged; one that runs is not held up.
  if (state === "off" && statuses.includes(MERGING)) {
    return { state: "merging", reason: "Hyper-V merges the VM's disks" };
  }
  return { state };
}
