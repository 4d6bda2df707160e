import * as z from "zod/mini";
import { VmName } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkMachineLimits } from "../../flows/machine_limits.ts";
import { defineTool } from "../tool.ts";

/** Takes a running VM that somebody else made under hvlab's names. Its process and its disks stay theirs. */
export default defineTool({
  name: "vm_adopt",
  family: "vm",
  class: "M",
  summary: "Take a running foreign VM under hvlab's names, by its monitor socket on QEMU",
  input: { locator: Path, name: z.optional(VmName) },
  positional: ["locator"],
  output: Vm,
  uses: ["driver"],
  feature: "adoption",
  async handle({ locator, name }, context) {
    const { driver, config, signal } = context;
    await checkMachineLimits(driver, config.limits, { memory_mb: 0, cpus: 0 }, signal);
    const id = await abilityOf(driver, "adoption").adopt(locator, name, context);
    return await driver.vms.get(id, signal);
  },
});
