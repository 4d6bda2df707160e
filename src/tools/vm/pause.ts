import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Halts a VM's processors; its memory stays in the host's memory and nothing goes to disk. */
export default defineTool({
  name: "vm_pause",
  family: "vm",
  class: "M",
  summary: "Halt a running VM; its memory stays in place",
  input: { vm: VmRef },
  positional: ["vm"],
  output: Vm,
  uses: ["driver", "vm"],
  feature: "pause",
  async handle(_, context) {
    const { driver, vm, signal } = context;
    await abilityOf(driver, "pause").pause(vm.id, context);
    return await driver.vms.get(vm.id, signal);
  },
});
