import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { Checkpoint, CheckpointName } from "../../contract/checkpoint.ts";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findCheckpoint } from "../../flows/finding/find_checkpoint.ts";
import { defineTool } from "../define_tool.ts";

/** Saves a VM's disks, and its memory on request, as a point to go back to. */
export default defineTool({
  name: "checkpoint_create",
  family: "checkpoint",
  class: "M",
  summary: "Save a VM's state as a point to go back to",
  input: { vm: VmRef, name: CheckpointName, memory_state: z._default(z.boolean(), false) },
  positional: ["vm", "name"],
  output: Checkpoint,
  uses: ["driver", "vm"],
  feature: "checkpoints",
  timed: true,
  async handle({ name, memory_state }, context) {
    const { driver, vm, signal } = context;
    if (memory_state && !driver.features.has("checkpoints.memory")) {
      throw new HvError("hv.unsupported", `The driver "${driver.name}" cannot keep memory in a checkpoint`, {
        hint: "Make the checkpoint without --memory-state",
        context: { driver: driver.name, feature: "checkpoints.memory" },
      });
    }
    const id = await abilityOf(driver, "checkpoints").create(vm.id, { name, memory_state }, context);
    return await findCheckpoint(driver, vm, id, signal);
  },
});
