import * as z from "zod/mini";
import { Cpus, MemoryMb } from "../../contract/arguments.ts";
import { ImageName, VmName } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { checkMachineLimits } from "../../flows/machine_limits.ts";
import { defineTool } from "../tool.ts";

/** Makes a lasting VM from an image; it is off until it is started. */
export default defineTool({
  name: "vm_create",
  family: "vm",
  class: "M",
  summary: "Create a lasting VM from an image; it stays off",
  input: { name: VmName, image: ImageName, memory_mb: z.optional(MemoryMb), cpus: z.optional(Cpus) },
  positional: ["name"],
  output: Vm,
  uses: ["driver"],
  feature: "vms",
  async handle({ name, image, memory_mb, cpus }, context) {
    const { driver, config, signal } = context;
    const size = { memory_mb: memory_mb ?? config.defaults.memory_mb, cpus: cpus ?? config.defaults.cpus };
    await checkMachineLimits(driver, config.limits, size, signal);
    return await driver.vms.get(await driver.vms.create({ name, image, ...size }, context), signal);
  },
});
