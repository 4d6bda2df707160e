import { Disk } from "../../contract/disk.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { DiskSizeBytes } from "../../flows/disks/disk_wish.ts";
import { defineTool } from "../define_tool.ts";

/** Grows a virtual disk. What its guest makes of the new space is the guest's. */
export default defineTool({
  name: "disk_resize",
  family: "disk",
  class: "M",
  summary: "Grow a virtual disk, also under a running VM",
  input: { path: Path, size_bytes: DiskSizeBytes },
  positional: ["path"],
  output: Disk,
  uses: ["driver"],
  feature: "disks",
  timed: true,
  writes: "path",
  opens: ({ path }) => [path],
  handle: ({ path, size_bytes }, context) =>
    abilityOf(context.driver, "disks").resize(path, size_bytes, context),
});
