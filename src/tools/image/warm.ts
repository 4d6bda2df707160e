import * as z from "zod/mini";
import { Cpus, MemoryMb } from "../../contract/arguments.ts";
import { Template } from "../../contract/image.ts";
import { ImageName } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkMachineLimits } from "../../flows/machine_limits.ts";
import { defineTool } from "../tool.ts";

/** Boots an image once and freezes it, so that its sandboxes start as clones. One that fits already stays. */
export default defineTool({
  name: "image_warm",
  family: "image",
  class: "M",
  summary: "Make a warm template of an image, from which sandboxes start at once",
  input: { name: ImageName, memory_mb: z.optional(MemoryMb), cpus: z.optional(Cpus) },
  positional: ["name"],
  output: z.extend(Template, { made: z.boolean() }),
  uses: ["driver"],
  feature: "templates",
  timed: true,
  async handle({ name, ...wish }, context) {
    const { driver, config, signal } = context;
    const memory_mb = wish.memory_mb ?? config.defaults.memory_mb;
    const cpus = wish.cpus ?? config.defaults.cpus;
    await checkMachineLimits(driver, config.limits, { memory_mb, cpus }, signal);
    return await abilityOf(driver, "templates").warm(name, { memory_mb, cpus }, context);
  },
});
