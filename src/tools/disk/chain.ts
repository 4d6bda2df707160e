import * as z from "zod/mini";
import { DiskLayer } from "../../contract/disk.ts";
import { Path } from "../../contract/path.ts";
import { refuseBroken } from "../../drivers/broken_chain.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { describeLayers } from "../../flows/disks/disk_layers.ts";
import { defineTool } from "../define_tool.ts";

const Layers = z.object({ layers: z.array(DiskLayer) });

/** Follows a disk's parents to the end; a broken chain is shown as far as it goes and ends in `hv.bad_image`. */
export default defineTool({
  name: "disk_chain",
  family: "disk",
  class: "R",
  summary: "List a virtual disk and its parents, and name what is wrong",
  input: { path: Path },
  positional: ["path"],
  output: z.extend(Layers, { path: z.string() }),
  uses: ["driver"],
  feature: "disks",
  timed: true,
  async handle({ path }, { driver, signal }) {
    const chain = await abilityOf(driver, "disks").chain(path, signal);
    refuseBroken(chain);
    return { path: chain.path, layers: chain.layers };
  },
  render: ({ layers }) => describeLayers(layers),
  renderFailure({ layers }) {
    const found = z.safeParse(Layers, { layers });
    return found.success ? describeLayers(found.data.layers) : undefined;
  },
});
