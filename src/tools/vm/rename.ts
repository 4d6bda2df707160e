import { VmName, VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkGivenName } from "../given_names.ts";
import { defineTool } from "../define_tool.ts";

/** Gives a VM another name, whatever its state; its id stays. */
export default defineTool({
  name: "vm_rename",
  family: "vm",
  class: "M",
  summary: "Give a VM another name; its id stays",
  input: { vm: VmRef, name: VmName },
  positional: ["vm", "name"],
  output: Vm,
  uses: ["driver", "vm"],
  feature: "configure",
  async handle({ name }, context) {
    const { driver, config, door, vm, signal } = context;
    if (name !== vm.name) checkGivenName(config, door, name);
    await abilityOf(driver, "configure").rename(vm.id, name, context);
    return await driver.vms.get(vm.id, signal);
  },
});
