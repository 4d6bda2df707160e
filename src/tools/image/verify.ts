import { ImageCheck } from "../../contract/image.ts";
import { ImageName } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Digests every file of an image and of its templates; exit code 14 when a file of the image is damaged. */
export default defineTool({
  name: "image_verify",
  family: "image",
  class: "R",
  summary: "Check an image's digests and whether its templates fit this host",
  input: { name: ImageName },
  positional: ["name"],
  output: ImageCheck,
  uses: ["driver"],
  feature: "templates",
  timed: true,
  exitCode: ({ sound }) => sound ? 0 : 14,
  handle: ({ name }, context) => abilityOf(context.driver, "templates").verify(name, context),
});
