import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { Cpus, MemoryMb } from "../../contract/arguments.ts";
import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkMachineSize } from "../../flows/machine_limits.ts";
import { defineTool } from "../tool.ts";

/** Changes what a VM is given. What a living VM cannot take on waits for its next start. */
export default defineTool({
  name: "vm_configure",
  family: "vm",
  class: "M",
  summary: "Change a VM's memory or processors, now or at its next start",
  input: { vm: VmRef, memory_mb: z.optional(MemoryMb), cpus: z.optional(Cpus) },
  positional: ["vm"],
  /** `now` names what holds already; the rest stands under `at_next_start`. */
  output: z.extend(Vm, { now: z.array(z.string()) }),
  uses: ["driver", "vm"],
  feature: "configure",
  async handle({ memory_mb, cpus }, context) {
    const { driver, config, vm, signal } = context;
    const change = {
      ...(memory_mb === undefined ? {} : { memory_mb }),
      ...(cpus === undefined ? {} : { cpus }),
    };
    if (Object.keys(change).length === 0) {
      throw new HvError("hv.usage", `There is nothing to change about "${vm.name}"`, {
        hint: "Give --memory or --cpus",
        context: { vm: vm.id },
      });
    }
    checkMachineSize(config.limits, change);
    const { now } = await abilityOf(driver, "configure").configure(vm.id, change, context);
    return { ...await driver.vms.get(vm.id, signal), now };
  },
});
