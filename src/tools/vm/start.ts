import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { ReadinessLevel, Vm } from "../../contract/vm.ts";
import { waitUntil } from "../../flows/wait_until.ts";
import { defineTool } from "../tool.ts";

/** Powers a VM on and waits for the readiness that is asked for. */
export default defineTool({
  name: "vm_start",
  family: "vm",
  class: "M",
  summary: "Power a VM on and wait until it is ready",
  input: { vm: VmRef, until: z._default(ReadinessLevel, "running") },
  positional: ["vm"],
  output: Vm,
  uses: ["driver", "vm"],
  feature: "vms",
  timed: true,
  async handle({ until }, context) {
    const { driver, vm, signal } = context;
    await driver.vms.start(vm.id, context);
    await waitUntil(driver, vm.id, until, { ...context, clock: context.host.clock });
    return await driver.vms.get(vm.id, signal);
  },
});
