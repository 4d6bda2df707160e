import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Makes an adopted VM foreign again. Its process goes on and its disks stay; a driver that lists foreign VMs goes on listing it. */
export default defineTool({
  name: "vm_forget",
  family: "vm",
  class: "M",
  summary: "Take an adopted VM off the list; its process and disks stay untouched",
  input: { vm: VmRef },
  positional: ["vm"],
  output: z.object({ id: z.string(), name: z.string(), forgotten: z.boolean() }),
  uses: ["driver", "vm"],
  feature: "adoption",
  async handle(_, context) {
    const { driver, vm, signal } = context;
    await abilityOf(driver, "adoption").forget(vm.id, context);
    const { vms } = await driver.vms.list(signal);
    return { id: vm.id, name: vm.name, forgotten: vms.every(({ id, managed }) => id !== vm.id || !managed) };
  },
});
