import { ImageName } from "../../contract/names.ts";
import { Removed } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Removes an image with its warm templates, and what has come of an unfinished fetch of its name. */
export default defineTool({
  name: "image_delete",
  family: "image",
  class: "D",
  summary: "Delete an image and its templates; refused while a VM needs it",
  input: { name: ImageName },
  positional: ["name"],
  output: Removed,
  uses: ["driver"],
  feature: "images.store",
  timed: true,
  frees: true,
  async plan({ name }, { driver, signal }) {
    const losses = await abilityOf(driver, "imageStore").losses(name, signal);
    return {
      summary: `Delete the image "${name}"`,
      losses,
      fingerprint: {
        name,
        losses: losses.map(({ what, path = "", size_bytes = 0 }) => [what, path, size_bytes]),
      },
    };
  },
  handle: ({ name }, context) => abilityOf(context.driver, "imageStore").remove(name, context),
});
