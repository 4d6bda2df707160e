import * as z from "zod/mini";
import { Image } from "../../contract/image.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../tool.ts";

/** Lists images that VMs and sandboxes can start from. */
export default defineTool({
  name: "image_list",
  family: "image",
  class: "R",
  summary: "List images that VMs and sandboxes start from",
  input: {},
  output: z.object({ images: z.array(Image) }),
  uses: ["driver"],
  feature: "images",
  async handle(_, { driver, signal, warn }) {
    const { images, warnings } = await abilityOf(driver, "images").list(signal);
    warnings.forEach(warn);
    return { images };
  },
});
