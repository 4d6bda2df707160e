import * as z from "zod/mini";
import { formatBytes } from "../../base/units.ts";
import { Image } from "../../contract/image.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Lists images that VMs and sandboxes can start from, with their warm templates. */
export default defineTool({
  name: "image_list",
  family: "image",
  class: "R",
  summary: "List images and their warm templates",
  input: {},
  output: z.object({ images: z.array(Image) }),
  uses: ["driver"],
  feature: "images",
  render: ({ images }) => images.length === 0 ? "no images" : images.map(describe).join("\n"),
  async handle(_, { driver, signal, warn }) {
    const { images, warnings } = await abilityOf(driver, "images").list(signal);
    warnings.forEach(warn);
    const { templates } = driver;
    if (templates === undefined) return { images };
    const shown = images.map(async (image) => ({ ...image, templates: await templates.list(image.name) }));
    return { images: await Promise.all(shown) };
  },
});

function describe({ name, kind, folder, size_bytes, templates = [] }: Image): string {
  const lines = [`${name}  ${kind}  ${formatBytes(size_bytes)}  ${folder}`];
  for (const { memory_mb, cpus, size_bytes: size, vms, created_at } of templates) {
    const users = vms === 0 ? "unused" : vms === 1 ? "1 VM" : `${vms} VMs`;
    const processors = cpus === 1 ? "1 processor" : `${cpus} processors`;
    lines.push(
      `  template for ${memory_mb} MiB, ${processors}: ${
        formatBytes(size)
      } on disk, ${users}, made ${created_at}`,
    );
  }
  return lines.join("\n");
}
