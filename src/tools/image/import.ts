import * as z from "zod/mini";
import { Image } from "../../contract/image.ts";
import { ImageName } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Takes in an image: a disk, or a kernel with an initrd. The files are copied, checked and made read-only. */
export default defineTool({
  name: "image_import",
  family: "image",
  class: "M",
  summary: "Import a disk (qcow2, raw) or a kernel with its initrd as an image",
  input: {
    name: ImageName,
    disk: z.optional(Path),
    kernel: z.optional(Path),
    fast_kernel: z.optional(Path).check(z.describe("Uncompressed kernel for sandboxes")),
    initrd: z.optional(Path),
    append: z.optional(z.string()),
  },
  positional: ["name"],
  output: Image,
  uses: ["driver"],
  feature: "images",
  timed: true,
  handle: ({ name, ...files }, context) => {
    const given = Object.fromEntries(Object.entries(files).filter(([, value]) => value !== undefined));
    return abilityOf(context.driver, "images").import({ name, ...given }, context);
  },
});
