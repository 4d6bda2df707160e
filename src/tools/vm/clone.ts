import * as z from "zod/mini";
import { VmName, VmRef } from "../../contract/names.ts";
import { DiskMoment, Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkMachineLimits } from "../../flows/machines/machine_limits.ts";
import { checkGivenName } from "../given_names.ts";
import { defineTool } from "../define_tool.ts";

/** Makes a new VM with another one's disks as they are now. Memory, checkpoints and a sandbox's lease stay behind. */
export default defineTool({
  name: "vm_clone",
  family: "vm",
  class: "M",
  summary: "Make a new VM of another's disks as they are now, without memory and checkpoints",
  input: { vm: VmRef, name: VmName },
  positional: ["vm", "name"],
  output: z.extend(Vm, { disks: z.optional(DiskMoment) }),
  uses: ["driver", "vm"],
  feature: "copies",
  timed: true,
  async handle({ name }, context) {
    const { driver, config, door, vm, signal } = context;
    checkGivenName(config, door, name);
    await checkMachineLimits(driver, config.limits, vm, signal);
    const { id, disks } = await abilityOf(driver, "copies").clone(vm.id, name, context);
    return { ...await driver.vms.get(id, signal), ...(disks === undefined ? {} : { disks }) };
  },
});
