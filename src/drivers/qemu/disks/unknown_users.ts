/** Records that cannot be read: their VM or their disk may use any disk at all. */

import { HvError } from "../../../base/errors.ts";
import type { QemuContext } from "../context.ts";
import { refuseDamagedVms } from "../damaged_vms.ts";
import { damagedBonds } from "./bonds.ts";

/**
 * Throws `hv.io` that names the first record that cannot be read, before something is done to a disk that nobody may be
 * using.
 */
export async function refuseUnknownUsers(context: QemuContext, path: string, action: string): Promise<void> {
  await refuseDamagedVms(context, `${action} "${path}"`, "have the disk", { path });
  const [bond] = await damagedBonds(context, path);
  if (bond === undefined) return;
  throw new HvError(
    "hv.io",
    `Cannot ${action} "${path}": the record "${bond}" of a differencing disk is damaged, and that disk may lean on it`,
    {
      hint: "Remove the record when you know that no disk leans on this one",
      context: { path, record: bond },
    },
  );
}
