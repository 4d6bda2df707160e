import * as z from "zod/mini";
import { Disk, DiskFormat } from "../../contract/disk.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Writes a disk with all that it leans on as a new one. */
export default defineTool({
  name: "disk_convert",
  family: "disk",
  class: "M",
  summary: "Write a virtual disk with its parents as a new one, in any format",
  input: {
    path: Path,
    target: Path,
    format: z.optional(DiskFormat),
    type: z._default(z.enum(["dynamic", "fixed"]), "dynamic"),
    overwrite: z._default(z.boolean(), false),
    follow_parents: z._default(z.boolean(), false),
  },
  positional: ["path", "target"],
  help: {
    format: "Of the target's ending when left out",
    follow_parents: "Read parents that hvlab did not put there",
  },
  output: Disk,
  uses: ["driver"],
  feature: "disks",
  timed: true,
  writes: "target",
  handle: ({ path, format, ...wish }, context) =>
    abilityOf(context.driver, "disks").convert(path, {
      ...wish,
      ...(format === undefined ? {} : { format }),
    }, context),
});
