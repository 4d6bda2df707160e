import * as z from "zod/mini";
import { ImageName } from "../../contract/names.ts";
import { Removed } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Removes the warm templates of an image. The image itself stays. */
export default defineTool({
  name: "image_drop",
  family: "image",
  class: "M",
  summary: "Remove an image's warm templates; refused while a sandbox runs on one",
  input: { name: ImageName },
  positional: ["name"],
  output: z.object({ templates: z.array(Removed) }),
  uses: ["driver"],
  feature: "templates",
  timed: true,
  frees: true,
  async handle({ name }, context) {
    return { templates: await abilityOf(context.driver, "templates").drop(name, context) };
  },
});
