/** Merging a disk under a running guest. */

import { HvError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/json.ts";
import type { CallScope } from "../../call_scope.ts";
import { numberIn, objectsIn, textIn } from "../monitor/answers.ts";
import { MERGE_JOB_PREFIX, VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { VmRecords } from "../records.ts";
import { depthOf, nodeName } from "./block_node.ts";
import { readBond, writeBond } from "./bonds.ts";
import type { SoundLayer } from "./chain.ts";
import { type AttachedBlock, attachedBlocks, removeStrayNodes } from "./live.ts";
import { replaceDisk } from "./disk_records.ts";

const LOOK_MS = 20;

/**
 * Has a living machine write a disk into its parent and go on with that. The guest stands still for the change itself:
 * the record must name the parent from the very write on that only the parent gets.
 */
export async function mergeLive(
  context: QemuContext,
  id: string,
  disk: SoundLayer,
  parent: SoundLayer,
  scope: CallScope,
): Promise<void> {
  const record = await new VmRecords(context).get(id);
  const monitor = new VmMonitor(context, record);
  const blocks = await attachedBlocks(monitor);
  const block = blocks.find(({ path }) => path === disk.path);
  if (block === undefined) {
    // A call that was killed had come as far as that.
    const pivoted = blocks.find(({ path }) => path === parent.path);
    if (pivoted !== undefined) {
      await untilOver(monitor, `${MERGE_JOB_PREFIX}${pivoted.key}`);
      return await finish(context, monitor, disk, parent);
    }
    throw new HvError("hv.conflict", `"${record.name}" runs and does not have "${disk.path}" now`, {
      hint: `Stop the VM first: hvlab vm stop ${id}`,
      context: { vm: id, path: disk.path, wanted: "attached or off", found: "running without it" },
    });
  }
  const job = `${MERGE_JOB_PREFIX}${block.key}`;
  if (await findJob(monitor, job) === undefined) await begin(monitor, job, block);
  try {
    await untilReady(monitor, job, scope);
  } catch (error) {
    await giveUp(monitor, job);
    throw error;
  }
  await pivot(context, monitor, job, disk, parent);
  await finish(context, monitor, disk, parent);
}

async function begin(monitor: VmMonitor, job: string, { key, node }: AttachedBlock): Promise<void> {
  await monitor.tell("block-commit", {
    "job-id": job,
    "device": node,
    "top-node": node,
    "base-node": nodeName(key, depthOf(node) + 1),
    "auto-dismiss": false,
  });
}

/** Waits until the parent has all that the disk has, and gets what the guest writes too. */
async function untilReady(monitor: VmMonitor, job: string, { signal, progress }: CallScope): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const entry = await findJob(monitor, job);
    if (entry === undefined) throw failed(monitor, "the job has vanished");
    const words = textIn(entry, "error");
    if (words !== undefined) throw failed(monitor, words);
    if (entry.status === "ready") return;
    const total = numberIn(entry, "total-progress");
    progress({
      message: "Merging",
      ...(total === 0 ? {} : { fraction: numberIn(entry, "current-progress") / total }),
    });
    await monitor.context.host.clock.sleep(LOOK_MS, signal);
  }
}

/** Not to be broken off half-way: it takes as long as the guest's last writes take to reach the disk. */
async function pivot(
  context: QemuContext,
  monitor: VmMonitor,
  job: string,
  disk: SoundLayer,
  parent: SoundLayer,
): Promise<void> {
  const status = await monitor.tell("query-status");
  const bond = await readBond(context, disk.path);
  if (isPlainObject(status) && status.running === true) {
    if (bond !== undefined) await writeBond(context, { ...bond, holds_guest: true });
    await monitor.tell("stop");
  }
  try {
    while (!await isLevel(monitor, job)) await context.host.clock.sleep(LOOK_MS);
    await replaceDisk(context, monitor.vm.id, disk.path, parent.path);
    await monitor.tell("job-complete", { id: job });
    await untilOver(monitor, job);
  } catch (error) {
    await takeBack(context, monitor, disk, parent);
    throw error;
  } finally {
    await letGo(context, monitor, disk);
  }
}

/**
 * A machine that goes on with the disk writes there alone from now on, so that its record must name it again. One that has
 * ended has left everything in the parent.
 */
async function takeBack(
  context: QemuContext,
  monitor: VmMonitor,
  disk: SoundLayer,
  parent: SoundLayer,
): Promise<void> {
  const blocks = await attachedBlocks(monitor).catch(() => []);
  if (blocks.some(({ path }) => path === disk.path)) {
    await replaceDisk(context, monitor.vm.id, parent.path, disk.path);
  }
}

/** Waits for a job's end and takes it off QEMU's list, where it would keep its disks open. */
async function untilOver(monitor: VmMonitor, job: string): Promise<void> {
  for (;;) {
    const entry = await findJob(monitor, job);
    if (entry === undefined) return;
    if (entry.status === "concluded") {
      await monitor.tell("job-dismiss", { id: job });
      const words = textIn(entry, "error");
      if (words !== undefined) throw failed(monitor, words);
      return;
    }
    await monitor.context.host.clock.sleep(LOOK_MS);
  }
}

/** Lets the guest go on if a merge, this one or one that was killed, holds it. */
async function letGo(context: QemuContext, monitor: VmMonitor, { path }: SoundLayer): Promise<void> {
  const bond = await readBond(context, path);
  if (bond?.holds_guest !== true) return;
  await monitor.tell("cont");
  const { holds_guest: _, ...rest } = bond;
  await writeBond(context, rest);
}

async function isLevel(monitor: VmMonitor, job: string): Promise<boolean> {
  const entry = await findJob(monitor, job);
  return entry === undefined || entry.status !== "ready" ||
    numberIn(entry, "current-progress") === numberIn(entry, "total-progress");
}

/** What is left to do once the machine uses the parent. */
async function finish(
  context: QemuContext,
  monitor: VmMonitor,
  disk: SoundLayer,
  parent: SoundLayer,
): Promise<void> {
  await replaceDisk(context, monitor.vm.id, disk.path, parent.path);
  await letGo(context, monitor, disk);
  await removeStrayNodes(monitor);
}

async function giveUp(monitor: VmMonitor, job: string): Promise<void> {
  await monitor.tell("block-job-cancel", { device: job, force: true }).catch(() => {});
  await untilOver(monitor, job).catch(() => {});
}

async function findJob(monitor: VmMonitor, job: string): Promise<Record<string, unknown> | undefined> {
  return objectsIn(await monitor.tell("query-jobs")).find((entry) => textIn(entry, "id") === job);
}

function failed({ vm: { id, name } }: VmMonitor, words: string): HvError {
  const isFull = words.includes("No space left");
  return new HvError(isFull ? "hv.io" : "hv.job_failed", `Cannot merge the disk of "${name}": ${words}`, {
    hint: isFull ? "Free some space, and merge again" : "QEMU's own words are in the message",
    context: { vm: id, qemu: words, ...(isFull ? { reason: "disk_full" } : {}) },
  });
}
