import { DiskCheck } from "../../contract/disk.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Checks a disk and its chain; exit code 14 when something is wrong. Repairs nothing. */
export default defineTool({
  name: "disk_check",
  family: "disk",
  class: "R",
  summary: "Check a virtual disk's tables and its parents' contents",
  input: { path: Path },
  positional: ["path"],
  output: DiskCheck,
  uses: ["driver"],
  feature: "disks",
  timed: true,
  exitCode: ({ sound }) => sound ? 0 : 14,
  handle: ({ path }, context) => abilityOf(context.driver, "disks").check(path, context),
});
