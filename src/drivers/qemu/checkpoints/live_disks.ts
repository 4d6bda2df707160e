/** Snapshots of the disks of a living machine, without its memory. */

import { isPlainObject } from "../../../base/json.ts";
import { objectsIn, textIn } from "../monitor/answers.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";

/** Puts all disks under a tag in one moment: either all have it afterwards or none. */
export async function snapshotLive(monitor: VmMonitor, tag: string, disks: readonly string[]): Promise<void> {
  await monitor.tell("transaction", {
    actions: disks.map((node) => ({
      type: "blockdev-snapshot-internal-sync",
      data: { device: node, name: tag },
    })),
  });
}

/** Deletes the snapshots of some tags from the given disks. What lies under a disk may be an image of others. */
export async function deleteLive(
  monitor: VmMonitor,
  disks: readonly string[],
  isDoomed: (tag: string) => boolean,
): Promise<void> {
  for (const node of objectsIn(await monitor.tell("query-named-block-nodes", { flat: true }))) {
    const device = textIn(node, "node-name");
    if (device === undefined || !disks.includes(device)) continue;
    const snapshots = isPlainObject(node.image) ? objectsIn(node.image.snapshots) : [];
    for (const name of snapshots.map((snapshot) => textIn(snapshot, "name"))) {
      if (name === undefined || !isDoomed(name)) continue;
      await monitor.tell("blockdev-snapshot-delete-internal-sync", { device, name });
    }
  }
}
