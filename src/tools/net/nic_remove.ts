import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { NicRef } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findNic } from "../../flows/finding/find_switch.ts";
import { defineTool } from "../define_tool.ts";

/** Takes a network card out of a VM, now where its guest lets go of it, else at its next start. */
export default defineTool({
  name: "nic_remove",
  family: "net",
  class: "M",
  summary: "Take a network card out of a VM, now or at its next start",
  input: { vm: VmRef, nic: NicRef },
  positional: ["vm", "nic"],
  help: { nic: "Id or name of the card; see hvlab nic list" },
  output: z.object({
    id: z.string(),
    vm: z.string(),
    /** Whether the VM's machine has let go of it. */
    removed: z.boolean(),
    /** Whether it goes at the VM's next start only. */
    at_next_start: z.boolean(),
  }),
  uses: ["driver", "vm"],
  feature: "nics",
  async handle({ nic }, context) {
    const { driver, vm, signal } = context;
    const { id } = await findNic(driver, vm, nic, { signal });
    const nics = abilityOf(driver, "nics");
    await nics.remove(vm.id, id, context);
    const left = (await nics.list(vm.id, signal)).nics.some((other) => other.id === id);
    return { id, vm: vm.id, removed: !left, at_next_start: left };
  },
});
