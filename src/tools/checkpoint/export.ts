import * as z from "zod/mini";
import { CheckpointRef } from "../../contract/checkpoint.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findCheckpoint } from "../../flows/finding/find_checkpoint.ts";
import { defineTool } from "../define_tool.ts";

/** Writes a checkpoint as files that need nothing else, into a folder that does not exist yet. */
export default defineTool({
  name: "checkpoint_export",
  family: "checkpoint",
  class: "M",
  summary: "Write a checkpoint as a VM's files into a new folder",
  input: { vm: VmRef, checkpoint: CheckpointRef, folder: Path },
  positional: ["vm", "checkpoint", "folder"],
  output: z.object({ id: z.string(), folder: z.string(), files: z.array(z.string()) }),
  uses: ["driver", "vm"],
  feature: "checkpoints",
  timed: true,
  writes: "folder",
  async handle({ checkpoint, folder }, context) {
    const { driver, vm, signal } = context;
    const { id } = await findCheckpoint(driver, vm, checkpoint, signal);
    return { id, folder, files: await abilityOf(driver, "checkpoints").export(vm.id, id, folder, context) };
  },
});
