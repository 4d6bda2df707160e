import * as z from "zod/mini";
import { Disk, DiskFormat, DiskType } from "../../contract/disk.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { DiskSizeBytes, typeOfNewDisk } from "../../flows/disks/disk_wish.ts";
import { defineTool } from "../define_tool.ts";

/** Makes a virtual disk: blank, or one that holds the differences to a parent. */
export default defineTool({
  name: "disk_create",
  family: "disk",
  class: "M",
  summary: "Make a virtual disk, blank or over a parent",
  input: {
    path: Path,
    size_bytes: z.optional(DiskSizeBytes),
    format: z.optional(DiskFormat),
    type: z.optional(DiskType),
    parent: z.optional(Path),
    overwrite: z._default(z.boolean(), false),
  },
  positional: ["path"],
  help: {
    format: "Of the file name's ending when left out",
    type: "dynamic, or differencing with a parent, when left out",
    parent: "Disk that stays as it is and holds what the new one does not",
  },
  output: Disk,
  uses: ["driver"],
  feature: "disks",
  timed: true,
  writes: "path",
  handle: ({ path, size_bytes, format, type, parent, overwrite }, context) =>
    abilityOf(context.driver, "disks").create({
      path,
      type: typeOfNewDisk(type, parent),
      overwrite,
      ...(size_bytes === undefined ? {} : { size_bytes }),
      ...(format === undefined ? {} : { format }),
      ...(parent === undefined ? {} : { parent }),
    }, context),
});
