import * as z from "zod/mini";
import { CheckpointRef } from "../../contract/checkpoint.ts";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findCheckpointId } from "../../flows/finding/find_checkpoint.ts";
import { defineTool } from "../define_tool.ts";

/** Removes one checkpoint. The VM's present state and other checkpoints stay as they are. */
export default defineTool({
  name: "checkpoint_delete",
  family: "checkpoint",
  class: "D",
  summary: "Delete a checkpoint; its children move up to its parent",
  input: { vm: VmRef, checkpoint: CheckpointRef },
  positional: ["vm", "checkpoint"],
  output: z.object({ id: z.string(), vm: z.string(), removed: z.boolean() }),
  uses: ["driver", "vm"],
  feature: "checkpoints",
  timed: true,
  async plan({ checkpoint }, { driver, vm, signal }) {
    const id = await findCheckpointId(driver, vm, checkpoint, signal);
    const { checkpoints } = await abilityOf(driver, "checkpoints").list(vm.id, signal);
    const found = checkpoints.find((candidate) => candidate.id === id);
    const name = found?.name ?? id;
    const size = found?.size_bytes ?? undefined;
    const memory = found?.memory_state ? " with its memory" : "";
    return {
      summary: `Delete the checkpoint "${name}" of the VM "${vm.name}"`,
      losses: [{
        what: `the checkpoint "${name}"${memory}`,
        ...(size === undefined ? {} : { size_bytes: size }),
      }],
      fingerprint: { id: vm.id, checkpoint: id, checkpoints: checkpoints.map((other) => other.id) },
    };
  },
  async handle({ checkpoint }, context) {
    const { driver, vm, signal } = context;
    const abilities = abilityOf(driver, "checkpoints");
    const id = await findCheckpointId(driver, vm, checkpoint, signal);
    await abilities.remove(vm.id, id, context);
    const { checkpoints } = await abilities.list(vm.id, signal);
    return { id, vm: vm.id, removed: checkpoints.every((other) => other.id !== id) };
  },
});
