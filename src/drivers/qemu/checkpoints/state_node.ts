/** Saving and loading a living machine's memory: through the block node `state`, which no device is attached to. */

import { objectsIn, textIn } from "../monitor/answers.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";

/** It is there while memory is saved or loaded, and named first among the devices of the job. */
const STATE_NODE = "state";

/**
 * Puts the machine's memory and disks as they are now under a tag, the memory into the file at `path`, which must
 * exist. The guest stands still meanwhile and goes on afterwards when it ran before.
 */
export async function saveMemory(
  monitor: VmMonitor,
  tag: string,
  path: string,
  disks: readonly string[],
): Promise<void> {
  await withStateNode(monitor, path, async () => {
    await monitor.runJob("snapshot-save", { tag, vmstate: STATE_NODE, devices: [STATE_NODE, ...disks] });
  });
}

/** Brings memory and disks back to a tag. A running guest goes on from there, a standing one stands. */
export async function loadMemory(
  monitor: VmMonitor,
  tag: string,
  path: string,
  disks: readonly string[],
): Promise<void> {
  await withStateNode(monitor, path, async () => {
    await monitor.runJob("snapshot-load", { tag, vmstate: STATE_NODE, devices: [STATE_NODE, ...disks] });
  });
}

async function withStateNode(monitor: VmMonitor, path: string, work: () => Promise<void>): Promise<void> {
  await detachStateNode(monitor);
  // A clone of a warm template migrates without its memory unless this is off; the stream differs by it too.
  await monitor.tell("migrate-set-capabilities", {
    capabilities: [{ capability: "x-ignore-shared", state: false }],
  });
  await monitor.tell("blockdev-add", {
    "driver": "qcow2",
    "node-name": STATE_NODE,
    "file": { driver: "file", filename: path },
  });
  try {
    await work();
  } finally {
    await detachStateNode(monitor);
  }
}

/** Takes the node away, also one that a killed call has left. */
async function detachStateNode(monitor: VmMonitor): Promise<void> {
  await monitor.finishOldJobs();
  const nodes = objectsIn(await monitor.tell("query-named-block-nodes", { flat: true }));
  const isThere = nodes.some((node) => textIn(node, "node-name") === STATE_NODE);
  if (isThere) await monitor.tell("blockdev-del", { "node-name": STATE_NODE });
}
