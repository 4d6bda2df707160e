/** A ready clone as the pool sees it: a sandbox whose record says that it is nobody's yet. */

import type { QemuContext } from "../context.ts";
import { type VmRecord, VmRecords } from "../records.ts";

/** The members of an image's pool, oldest first. */
export async function membersOf(context: QemuContext, image: string): Promise<VmRecord[]> {
  const { records } = await new VmRecords(context).list();
  return records.filter((record) => record.image === image && record.template?.pooled === true);
}
