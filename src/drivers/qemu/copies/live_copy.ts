/**
 * Copies of a living machine's disks, made by its own QEMU: what the guest writes meanwhile is kept out of them, so
 * that all show the moment at which the copying began.
 */

import { HvError } from "../../../base/errors.ts";
import type { CallScope } from "../../call_scope.ts";
import { numberIn, objectsIn, textIn } from "../monitor/answers.ts";
import type { DiskFile } from "../checkpoints/files.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";

/** A disk and where its copy goes. */
export interface DiskCopy extends DiskFile {
  target: string;
}

/** `leaning` keeps a copy on the same base as the disk, `whole` makes one that needs no other file. */
export type CopyKind = "leaning" | "whole";

/** Names that hvlab alone gives to jobs and block nodes of a copy. */
const PREFIX = "hvlab-copy-";
const LOOK_MS = 20;

interface Job {
  name: string;
  copy: DiskCopy;
}

/** Fills the targets, which exist and are empty. A failure or the signal leaves the machine as it was. */
export async function copyLive(
  monitor: VmMonitor,
  copies: readonly DiskCopy[],
  kind: CopyKind,
  scope: CallScope,
): Promise<void> {
  await endOldCopies(monitor);
  const run = crypto.randomUUID().slice(0, 8);
  const jobs = copies.map((copy, index) => ({ name: `${PREFIX}${run}-${index}`, copy }));
  try {
    for (const { name, copy } of jobs) {
      await monitor.tell("blockdev-add", {
        "driver": "qcow2",
        "node-name": name,
        "file": { driver: "file", filename: copy.target },
      });
    }
    await monitor.tell("transaction", {
      actions: jobs.map(({ name, copy }) => ({
        type: "blockdev-backup",
        data: {
          "job-id": name,
          "device": copy.node,
          "target": name,
          "sync": kind === "leaning" ? "top" : "full",
          "auto-dismiss": false,
        },
      })),
    });
    await waitForJobs(monitor, jobs, scope);
  } finally {
    await endOldCopies(monitor);
  }
}

async function waitForJobs(
  monitor: VmMonitor,
  jobs: readonly Job[],
  { signal, progress }: CallScope,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const entries = objectsIn(await monitor.tell("query-jobs"));
    const ours = entries.filter((entry) => jobs.some(({ name }) => textIn(entry, "id") === name));
    for (const entry of ours) {
      const words = textIn(entry, "error");
      if (words !== undefined) throw copyFailed(monitor, words);
    }
    if (ours.length === jobs.length && ours.every(({ status }) => status === "concluded")) return;
    if (ours.length < jobs.length) throw copyFailed(monitor, "a job has vanished");
    const total = ours.reduce((sum, entry) => sum + numberIn(entry, "total-progress"), 0);
    const done = ours.reduce((sum, entry) => sum + numberIn(entry, "current-progress"), 0);
    progress({ message: "Copying disks", ...(total === 0 ? {} : { fraction: done / total }) });
    await monitor.context.host.clock.sleep(LOOK_MS, signal);
  }
}

/** Ends copies of this machine that are going on or were left behind. The caller holds the VM's lock. */
async function endOldCopies(monitor: VmMonitor): Promise<void> {
  for (;;) {
    const jobs = objectsIn(await monitor.tell("query-jobs"))
      .map((entry) => ({ id: textIn(entry, "id") ?? "", status: entry.status }))
      .filter(({ id }) => id.startsWith(PREFIX));
    if (jobs.length === 0) break;
    for (const { id, status } of jobs) {
      if (status === "concluded") await monitor.tell("job-dismiss", { id });
      else if (status !== "aborting") await monitor.tell("job-cancel", { id }).catch(() => {});
    }
    await monitor.context.host.clock.sleep(LOOK_MS);
  }
  for (const node of objectsIn(await monitor.tell("query-named-block-nodes", { flat: true }))) {
    const name = textIn(node, "node-name");
    if (name?.startsWith(PREFIX)) await monitor.tell("blockdev-del", { "node-name": name });
  }
}

function copyFailed(monitor: VmMonitor, words: string): HvError {
  const { id, name } = monitor.vm;
  const isFull = words.includes("No space left");
  return new HvError(isFull ? "hv.io" : "hv.job_failed", `Cannot copy the disks of "${name}": ${words}`, {
    hint: isFull ? "Free some space" : "Correct what QEMU names, and try again",
    context: { vm: id, qemu: words, ...(isFull ? { reason: "disk_full" } : {}) },
  });
}
