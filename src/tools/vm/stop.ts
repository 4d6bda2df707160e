import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { StopMode, Vm } from "../../contract/vm.ts";
import { defineTool } from "../tool.ts";

/** Brings a VM to rest in the way that is asked for; never escalates by itself. */
export default defineTool({
  name: "vm_stop",
  family: "vm",
  class: "M",
  summary: "Stop a VM; shutdown never escalates, off cuts the power",
  input: { vm: VmRef, mode: z._default(StopMode, "shutdown") },
  positional: ["vm"],
  output: Vm,
  uses: ["driver", "vm"],
  feature: "vms",
  timed: true,
  frees: true,
  async handle({ mode }, context) {
    const { driver, vm, signal } = context;
    await driver.vms.stop(vm.id, mode, context);
    return await driver.vms.get(vm.id, signal);
  },
});
