import { Disk } from "../../contract/disk.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Reads a disk's own header. What it says of itself is no proof; `disk_chain` and `disk_check` look further. */
export default defineTool({
  name: "disk_info",
  family: "disk",
  class: "R",
  summary: "Read a virtual disk's header: format, size, parent",
  input: { path: Path },
  positional: ["path"],
  output: Disk,
  uses: ["driver"],
  feature: "disks",
  handle: ({ path }, { driver, signal }) => abilityOf(driver, "disks").info(path, signal),
});
