/** Attached disks in a living machine: plugged in, taken out, and seen there. */

import { HvError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/json.ts";
import type { CallScope } from "../../call_scope.ts";
import { SPARES } from "../launch/argv.ts";
import { objectsIn, textIn } from "../monitor/answers.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";
import { blockDevice, blockNode, deviceName, isDiskPort, keyOfDevice } from "./block_node.ts";
import type { SoundLayer } from "./chain.ts";
import { withHolder } from "./disk_program.ts";

const LOOK_MS = 20;
/** A guest that runs lets go of a disk within a fraction of a second; one without drivers never does. */
const UNPLUG_LIMIT_MS = 15_000;
/** Nodes that hvlab adds itself; those below them come and go with them. */
const OWN_NODE = /^hvdisk-[0-9a-f]{8}$/;

/** An attached disk as the machine has it. */
export interface AttachedBlock {
  key: string;
  node: string;
  path: string;
  format: string;
  readOnly: boolean;
}

/** The attached disks that the machine has now. */
export async function attachedBlocks(monitor: VmMonitor): Promise<AttachedBlock[]> {
  return objectsIn(await monitor.tell("query-block")).flatMap(({ qdev, inserted }) => {
    const device = typeof qdev === "string" ? /([^/]+)\/virtio-backend$/.exec(qdev)?.[1] : undefined;
    const key = device === undefined ? undefined : keyOfDevice(device);
    const node = textIn(inserted, "node-name");
    const path = textIn(inserted, "file");
    if (key === undefined || node === undefined || path === undefined) return [];
    const format = textIn(inserted, "drv") ?? "unknown";
    return [{ key, node, path, format, readOnly: isPlainObject(inserted) && inserted.ro === true }];
  });
}

/** Plugs a chain in. A failure leaves nothing behind in the machine. */
export async function plugIn(
  monitor: VmMonitor,
  key: string,
  layers: readonly SoundLayer[],
  readOnly: boolean,
): Promise<void> {
  await removeStrayNodes(monitor);
  try {
    await monitor.tell("blockdev-add", blockNode(key, layers, readOnly));
    await addDevice(monitor, key);
  } catch (error) {
    await removeStrayNodes(monitor).catch(() => {});
    throw await withHolder(monitor.context, error, layers[0]?.path);
  }
}

/** Takes a disk out and waits until the guest has let go of it and QEMU of its files. */
export async function unplug(
  monitor: VmMonitor,
  { key, node }: AttachedBlock,
  { signal, progress }: CallScope,
): Promise<void> {
  const { clock } = monitor.context.host;
  await askToUnplug(monitor, key);
  progress({ message: "Waiting for the guest to let go of the disk" });
  const end = clock.monotonic() + UNPLUG_LIMIT_MS;
  for (;;) {
    const isPlugged = (await attachedBlocks(monitor)).some((block) => block.key === key);
    // QEMU takes the device apart a moment after it is gone from its lists.
    if (!isPlugged && !(await namedNodes(monitor)).includes(node)) return;
    if (clock.monotonic() > end) throw notLetGo(monitor);
    if (!isPlugged) await removeStrayNodes(monitor);
    await clock.sleep(LOOK_MS, signal);
  }
}

/** Removes nodes of attached disks that no device uses: what a killed call left, or a guest let go of late. */
export async function removeStrayNodes(monitor: VmMonitor): Promise<void> {
  const used = new Set((await attachedBlocks(monitor)).map(({ node }) => node));
  for (const node of await namedNodes(monitor)) {
    if (!OWN_NODE.test(node) || used.has(node)) continue;
    try {
      await monitor.tell("blockdev-del", { "node-name": node });
    } catch (error) {
      const words = error instanceof HvError ? textIn(error.context, "qemu") ?? "" : "";
      if (!/in use/.test(words)) throw error;
    }
  }
}

async function namedNodes(monitor: VmMonitor): Promise<string[]> {
  return objectsIn(await monitor.tell("query-named-block-nodes", { flat: true }))
    .flatMap((node) => textIn(node, "node-name") ?? []);
}

/** The first port that takes it: which ones are free nobody tells without trying. */
async function addDevice(monitor: VmMonitor, key: string): Promise<void> {
  const ports = objectsIn(await monitor.tell("qom-list", { path: "/machine/peripheral" }))
    .flatMap((entry) => textIn(entry, "name") ?? []).filter((name) =>
      isDiskPort(name) || SPARES.includes(name)
    ).sort();
  for (const port of ports) {
    try {
      await monitor.tell("device_add", blockDevice(key, port));
      return;
    } catch (error) {
      const words = error instanceof HvError ? textIn(error.context, "qemu") ?? "" : "";
      if (!/slot \d+ function \d+ (?:not available|already)|in use by|does not support hotplug/.test(words)) {
        throw error;
      }
    }
  }
  const { id, name } = monitor.vm;
  throw new HvError("hv.conflict", `No slot of "${name}" is free for another disk while it runs`, {
    hint: "Detach one, or stop the VM: one that is off gets a slot for each disk at its start",
    context: { vm: id, slots: ports.length, wanted: "a free slot", found: "all in use" },
  });
}

/** A second request while the guest still thinks about the first is refused, and is none the less on its way. */
async function askToUnplug(monitor: VmMonitor, key: string): Promise<void> {
  try {
    await monitor.tell("device_del", { id: deviceName(key) });
  } catch (error) {
    const words = error instanceof HvError ? textIn(error.context, "qemu") ?? "" : "";
    if (!/already in the process of unplug/.test(words)) throw error;
  }
}

function notLetGo({ vm: { id, name } }: VmMonitor): HvError {
  return new HvError("hv.timeout", `The guest of "${name}" did not let go of the disk`, {
    hint: "It is off the VM's record: the guest may still let go, and at the VM's next start it is gone",
    context: { vm: id, wanted: "detached", found: "in use by the guest", timeout_ms: UNPLUG_LIMIT_MS },
  });
}
