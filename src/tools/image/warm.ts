import * as z from "zod/mini";
import { Template } from "../../contract/image.ts";
import { ImageName } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkMachineLimits } from "../../flows/machines/machine_limits.ts";
import { defineTool } from "../define_tool.ts";
import { SIZE_FIELDS } from "../machine_fields.ts";

/** Boots an image once and freezes it, so that its sandboxes start as clones. One that fits already stays. */
export default defineTool({
  name: "image_warm",
  family: "image",
  class: "M",
  summary: "Make a warm template of an image, from which sandboxes start at once",
  input: {
    name: ImageName,
    ...SIZE_FIELDS,
    pool: z.optional(
      z.int().check(z.minimum(0), z.maximum(16), z.describe("Clones to keep ready; 0 ends it")),
    ),
  },
  positional: ["name"],
  output: z.extend(Template, {
    made: z.boolean(),
    /** Ids of the clones that were made ready, and of those that were taken away. */
    pool: z.optional(z.object({ added: z.array(z.string()), removed: z.array(z.string()) })),
  }),
  uses: ["driver"],
  feature: "templates",
  timed: true,
  async handle({ name, pool, ...wish }, context) {
    const { driver, config, signal } = context;
    const memory_mb = wish.memory_mb ?? config.defaults.memory_mb;
    const cpus = wish.cpus ?? config.defaults.cpus;
    await checkMachineLimits(driver, config.limits, { memory_mb, cpus }, signal);
    const templates = abilityOf(driver, "templates");
    const template = await templates.warm(name, { memory_mb, cpus }, context);
    if (pool === undefined) return template;
    const { added, removed } = await templates.keepReady(name, { memory_mb, cpus }, pool, context);
    return { ...template, pool: { added, removed } };
  },
});
