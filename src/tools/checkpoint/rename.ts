import { Checkpoint, CheckpointName, CheckpointRef } from "../../contract/checkpoint.ts";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findCheckpoint } from "../../flows/finding/find_checkpoint.ts";
import { defineTool } from "../define_tool.ts";

/** Gives a checkpoint another name; its id stays. */
export default defineTool({
  name: "checkpoint_rename",
  family: "checkpoint",
  class: "M",
  summary: "Rename a checkpoint",
  input: { vm: VmRef, checkpoint: CheckpointRef, name: CheckpointName },
  positional: ["vm", "checkpoint", "name"],
  output: Checkpoint,
  uses: ["driver", "vm"],
  feature: "checkpoints",
  async handle({ checkpoint, name }, context) {
    const { driver, vm, signal } = context;
    const { id } = await findCheckpoint(driver, vm, checkpoint, signal);
    await abilityOf(driver, "checkpoints").rename(vm.id, id, name, context);
    return await findCheckpoint(driver, vm, id, signal);
  },
});
