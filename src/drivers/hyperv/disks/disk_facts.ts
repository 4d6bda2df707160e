/** A virtual disk's file as the operations describe it. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { type Disk, diskSize, DiskType } from "../../../contract/disk.ts";

/** One disk as `ConvertTo-DiskFacts` gives it. Bytes come as text. */
export const DiskFileFacts = z.object({
  path: z.string(),
  format: z.string(),
  type: z.string(),
  size: z.string(),
  file_size: z.string(),
  parent: z.nullable(z.string()),
});
export type DiskFileFacts = z.infer<typeof DiskFileFacts>;

/** The disk as the tools show it. Throws `hv.unsupported` for a format that is none of ours. */
export function diskOf(facts: DiskFileFacts): Disk {
  const type = z.safeParse(DiskType, facts.type);
  const format = facts.format === "vhdx" || facts.format === "vhd" ? facts.format : undefined;
  if (format === undefined || !type.success) {
    throw new HvError("hv.unsupported", `"${facts.path}" is a ${facts.type} ${facts.format}`, {
      hint: "hvlab works on VHDX and VHD here",
      context: { path: facts.path, format: facts.format, type: facts.type },
    });
  }
  return {
    path: facts.path,
    format,
    type: type.data,
    size_bytes: diskSize(BigInt(facts.size)),
    file_bytes: Number(facts.file_size),
    allocated_bytes: null,
    parent: facts.parent === null ? null : { name: facts.parent, format },
  };
}
