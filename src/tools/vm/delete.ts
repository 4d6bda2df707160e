import { VmRef } from "../../contract/names.ts";
import { Removed } from "../../contract/vm.ts";
import { defineTool } from "../tool.ts";

/** Removes a VM with everything that belongs to it; a running one is powered off first. */
export default defineTool({
  name: "vm_delete",
  family: "vm",
  class: "D",
  summary: "Delete a VM and its files; a running one is powered off first",
  input: { vm: VmRef },
  positional: ["vm"],
  output: Removed,
  uses: ["driver", "vm"],
  feature: "vms",
  async plan(_, { driver, vm, signal }) {
    const power = vm.state === "off" ? "" : `, which is ${vm.state} and is powered off first`;
    return {
      summary: `Delete the VM "${vm.name}"${power}`,
      losses: await driver.vms.losses(vm.id, signal),
      fingerprint: { id: vm.id, name: vm.name, state: vm.state, pid: vm.pid ?? null },
    };
  },
  handle: (_, context) => context.driver.vms.remove(context.vm.id, context),
});
