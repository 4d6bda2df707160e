import * as z from "zod/mini";
import { Checkpoint } from "../../contract/checkpoint.ts";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { renderTree } from "../../flows/checkpoint_tree.ts";
import { defineTool } from "../define_tool.ts";

/** Lists a VM's checkpoints, each looked up where it is kept. */
export default defineTool({
  name: "checkpoint_list",
  family: "checkpoint",
  class: "R",
  summary: "List a VM's checkpoints as a tree",
  input: { vm: VmRef },
  positional: ["vm"],
  output: z.object({ checkpoints: z.array(Checkpoint) }),
  uses: ["driver", "vm"],
  feature: "checkpoints",
  async handle(_, { driver, vm, signal, warn }) {
    const { checkpoints, warnings } = await abilityOf(driver, "checkpoints").list(vm.id, signal);
    warnings.forEach(warn);
    return { checkpoints };
  },
  render: ({ checkpoints }) => renderTree(checkpoints),
});
