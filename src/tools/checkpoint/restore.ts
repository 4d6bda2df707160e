import * as z from "zod/mini";
import { CheckpointRef } from "../../contract/checkpoint.ts";
import { GuestClock } from "../../contract/guest.ts";
import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findCheckpoint } from "../../flows/finding/find_checkpoint.ts";
import { defineTool } from "../define_tool.ts";

/** Brings a VM back to a checkpoint; what it holds now and no checkpoint holds is lost. */
export default defineTool({
  name: "checkpoint_restore",
  family: "checkpoint",
  class: "D",
  summary: "Bring a VM back to a checkpoint; its present state is lost",
  input: { vm: VmRef, checkpoint: CheckpointRef },
  positional: ["vm", "checkpoint"],
  /** The VM, and how far its guest's clock was off where that could be told. */
  output: z.extend(Vm, { guest_clock: z.optional(GuestClock) }),
  uses: ["driver", "vm"],
  feature: "checkpoints",
  timed: true,
  async plan({ checkpoint }, { driver, vm, signal }) {
    const found = await findCheckpoint(driver, vm, checkpoint, signal);
    return {
      summary:
        `Bring the VM "${vm.name}", which is ${vm.state}, back to the checkpoint "${found.name}"; it is ${found.restores_to} afterwards`,
      losses: await abilityOf(driver, "checkpoints").losses(vm.id, found.id, signal),
      fingerprint: { id: vm.id, state: vm.state, pid: vm.pid ?? null, checkpoint: found.id },
    };
  },
  async handle({ checkpoint }, context) {
    const { driver, vm, signal } = context;
    const { id } = await findCheckpoint(driver, vm, checkpoint, signal);
    let guest_clock: GuestClock | undefined;
    await abilityOf(driver, "checkpoints").restore(vm.id, id, {
      ...context,
      guestClock: (clock) => guest_clock ??= clock,
    });
    return { ...await driver.vms.get(vm.id, signal), ...(guest_clock === undefined ? {} : { guest_clock }) };
  },
});
