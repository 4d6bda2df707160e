import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { defineTool } from "../tool.ts";

/** Shows one VM as observed now. */
export default defineTool({
  name: "vm_get",
  family: "vm",
  class: "R",
  summary: "Show one VM with its observed state",
  input: { vm: VmRef },
  positional: ["vm"],
  output: Vm,
  uses: ["driver", "vm"],
  feature: "vms",
  handle: (_, { driver, vm, signal }) => driver.vms.get(vm.id, signal),
});
