import * as z from "zod/mini";
import { VmName } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { Vm } from "../../contract/vm.ts";
import type { ForeignVm } from "../../drivers/vm_extras.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkMachineLimits } from "../../flows/machines/machine_limits.ts";
import { checkAdoptedName, checkGivenName } from "../given_names.ts";
import { checkVm } from "../policy.ts";
import { defineTool } from "../define_tool.ts";

/** Takes a VM that somebody else made under hvlab's names. Its process and its disks stay theirs. */
export default defineTool({
  name: "vm_adopt",
  family: "vm",
  class: "M",
  summary: "Take a foreign VM under hvlab's names, by its monitor socket on QEMU, its name on Hyper-V",
  input: { locator: Path, name: z.optional(VmName) },
  positional: ["locator"],
  output: Vm,
  uses: ["driver"],
  feature: "adoption",
  async handle({ locator, name }, context) {
    const { driver, config, door, signal } = context;
    await checkMachineLimits(driver, config.limits, { memory_mb: 0, cpus: 0 }, signal);
    const allow = (found: ForeignVm): void => {
      checkVm(config, found);
      checkGivenName(config, door, name ?? found.name);
      if (name !== undefined && name !== found.name) checkAdoptedName(config, name);
    };
    const id = await abilityOf(driver, "adoption").adopt({ locator, name, allow }, context);
    return await driver.vms.get(id, signal);
  },
});
