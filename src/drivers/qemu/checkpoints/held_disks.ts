/** Disks that a machine has and its record does not: a guest that lets go of none keeps those that were detached. */

import { HvError } from "../../../base/errors.ts";
import { quoteWord } from "../../../host/quote_word.ts";
import { attachedBlocks } from "../disks/live.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";
import type { VmRecord } from "../records.ts";

/** Throws `hv.conflict` while the machine has such a disk: memory goes on only with all its disks. */
export async function refuseHeldDisks(
  monitor: VmMonitor,
  { id, name, disks = [] }: VmRecord,
): Promise<void> {
  const blocks = await attachedBlocks(monitor);
  const held = blocks.find(({ key }) => !disks.some((disk) => disk.key === key));
  if (held === undefined) return;
  throw new HvError(
    "hv.conflict",
    `Cannot save the memory of "${name}": it has the disk "${held.path}" still, which its next start does not give it`,
    {
      hint: `Detach it again, or attach it: hvlab disk detach ${id} ${quoteWord(held.path)}`,
      context: { vm: id, path: held.path, wanted: "detached", found: "in use by the guest" },
    },
  );
}
