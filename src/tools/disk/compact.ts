import { Disk } from "../../contract/disk.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Gives space that a disk no longer needs back to the host. */
export default defineTool({
  name: "disk_compact",
  family: "disk",
  class: "M",
  summary: "Give a virtual disk's unused space back to the host",
  input: { path: Path },
  positional: ["path"],
  output: Disk,
  uses: ["driver"],
  feature: "disks",
  timed: true,
  writes: "path",
  opens: ({ path }) => [path],
  handle: ({ path }, context) => abilityOf(context.driver, "disks").compact(path, context),
});
