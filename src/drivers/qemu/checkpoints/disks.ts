/** The disks and devices of a living machine, and what of them cannot be part of a checkpoint. */

import { HvError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/json.ts";
import { NODE_PREFIX } from "../disks/block_node.ts";
import { objectsIn, textIn } from "../monitor/answers.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";

/** A disk that a running machine may write. */
export interface WritableDisk {
  /** Its block node. */
  node: string;
  driver: string;
  /** How people know it: the device that it is behind. */
  device: string;
  file: string;
}

const SNAPSHOT_FORMAT = "qcow2";

/** Every disk that the guest can change. */
export async function writableDisks(monitor: VmMonitor): Promise<WritableDisk[]> {
  const found: WritableDisk[] = [];
  for (const block of objectsIn(await monitor.tell("query-block"))) {
    const { inserted } = block;
    if (!isPlainObject(inserted) || inserted.ro === true) continue;
    const node = textIn(inserted, "node-name") ?? textIn(block, "device");
    if (node === undefined) continue;
    found.push({
      node,
      driver: textIn(inserted, "drv") ?? "unknown",
      device: deviceName(block) ?? node,
      file: textIn(inserted, "file") ?? "",
    });
  }
  return found;
}

/** What keeps a checkpoint from being made, one sentence for each. Nothing is changed or paused to find out. */
export async function findBlockers(
  monitor: VmMonitor,
  disks: readonly WritableDisk[],
  withMemory: boolean,
): Promise<string[]> {
  const raw = disks.flatMap(({ node, device, driver, file }) => {
    if (node.startsWith(NODE_PREFIX)) return [attachedBlocker(file)];
    if (driver === SNAPSHOT_FORMAT) return [];
    return [`the disk "${device}" (${file}) has the format ${driver}, which keeps no snapshots`];
  });
  if (!withMemory) return raw;
  const migration = await monitor.tell("query-migrate");
  const reasons = isPlainObject(migration) ? migration["blocked-reasons"] : undefined;
  return [...raw, ...(Array.isArray(reasons) ? reasons.map((reason) => nameBlocker(String(reason))) : [])];
}

/** A disk from elsewhere would not go back with the VM, and its guest would find it changed under its hands. */
export function attachedBlocker(path: string): string {
  return `the disk "${path}" is attached and no part of its checkpoints`;
}

/** How QEMU 7.2 names a shared folder: virtiofs by its device, 9p by "VirtFS export path". */
const SHARED_FOLDER = /vhost-user-fs|VirtFS/;

/** QEMU names a device by its place; people know what it is for. */
function nameBlocker(words: string): string {
  return SHARED_FOLDER.test(words) ? `a shared folder is open to the guest (${words})` : words;
}

/** Refuses with all that stands in the way. */
export function refuseBlocked(
  { vm: { id, name } }: Pick<VmMonitor, "vm">,
  what: string,
  blockers: readonly string[],
): void {
  if (blockers.length === 0) return;
  const diskless = blockers.every((blocker) => !blocker.startsWith("the disk "));
  throw new HvError("hv.unsupported", `Cannot ${what} "${name}": ${blockers.join("; ")}`, {
    hint: diskless
      ? "Make the checkpoint without memory, or remove the device"
      : "Use qcow2 for the VM's own disks; detach others, or attach them read-only",
    context: { vm: id, blockers: [...blockers] },
  });
}

/** `/machine/peripheral/virtio-disk-0/virtio-backend` is the device `virtio-disk-0`. */
function deviceName(block: Record<string, unknown>): string | undefined {
  const path = textIn(block, "qdev");
  const parts = path?.split("/").filter((part) => part !== "virtio-backend") ?? [];
  return parts.at(-1) || textIn(block, "device");
}
