/** What callers may wish of a disk. */

import * as z from "zod/mini";
import type { DiskType } from "../../contract/disk.ts";

/** The least is a sector; 64 TiB is the most that VHDX holds. */
export const DiskSizeBytes = z.int().check(z.minimum(512), z.maximum(64 * 1024 ** 4), z.multipleOf(512));

/** The kind of a new disk: what was asked for, else differencing exactly when it has a parent. */
export function typeOfNewDisk(type: DiskType | undefined, parent: string | undefined): DiskType {
  return type ?? (parent === undefined ? "dynamic" : "differencing");
}
