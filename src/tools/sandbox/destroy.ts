import { HvError } from "../../base/errors.ts";
import { VmRef } from "../../contract/names.ts";
import { Removed } from "../../contract/vm.ts";
import { defineTool } from "../define_tool.ts";

/** Removes a sandbox. Needs no plan, since a sandbox is disposable by construction; a lasting VM is refused. */
export default defineTool({
  name: "sandbox_destroy",
  family: "sandbox",
  class: "M",
  summary: "Remove a sandbox at once",
  input: { vm: VmRef },
  positional: ["vm"],
  output: Removed,
  uses: ["driver", "vm"],
  feature: "sandboxes",
  frees: true,
  handle(_, context) {
    const { driver, vm } = context;
    if (vm.sandbox) return driver.vms.remove(vm.id, context);
    throw new HvError("hv.policy_denied", `"${vm.name}" is a lasting VM, not a sandbox`, {
      hint: "Delete a lasting VM with `hvlab vm delete`",
      context: { vm: vm.id },
    });
  },
});
