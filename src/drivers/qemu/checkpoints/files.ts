/** The files that hold a VM's checkpoints: its own disks, and for each saved memory a file of its own. */

import { HvError } from "../../../base/errors.ts";
import { joinPath, nameOf } from "../../../base/paths.ts";
import { QEMU_IMG, type QemuContext } from "../context.ts";
import { DISK_FILES } from "../overlay.ts";
import { findQemuImg } from "../launch/program.ts";
import type { CheckpointRecord } from "./records.ts";
import { readSnapshots } from "./snapshot_table.ts";

/** A disk of a VM with its block node's name in a running machine. */
export interface DiskFile {
  node: typeof DISK_FILES[number]["node"];
  path: string;
}

/*
 * Memory goes into a file for each checkpoint and not into one for all: after a full disk QEMU 7.2 leaves the
 * clusters of a state that did not fit allocated for good (measured), and removing a file gives all of it back.
 */
const MEMORY_FOLDER = "memory";
const SUFFIX = ".qcow2";
/** The state lies behind the disk's end, which therefore can be as small as QEMU allows. */
const DISK_SIZE = "64K";
const OURS = /^(?:ckpt|save|undo)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a snapshot's tag is one that hvlab gives. */
export function isOurTag(tag: string): boolean {
  return OURS.test(tag);
}

/** The file that holds the memory which was saved under a tag. */
export function memoryFile({ state }: QemuContext, vm: string, tag: string): string {
  return memoryFileIn(state.vm(vm), tag);
}

/** The same in a VM's folder that does not have its name yet. */
export function memoryFileIn(home: string, tag: string): string {
  return joinPath(memoryFolder(home), `${tag}${SUFFIX}`);
}

function memoryFolder(home: string): string {
  return joinPath(home, MEMORY_FOLDER);
}

/** The disks that a VM owns. */
export async function disksOf({ host, state }: QemuContext, vm: string): Promise<DiskFile[]> {
  const disks: DiskFile[] = [];
  for (const { node, file } of DISK_FILES) {
    const path = joinPath(state.vm(vm), file);
    if (await host.files.stat(path) !== undefined) disks.push({ node, path });
  }
  return disks;
}

/** Makes an empty file for memory. A leftover of the same name is replaced. */
export async function makeMemoryFile(
  context: QemuContext,
  vm: string,
  tag: string,
  signal: AbortSignal,
): Promise<string> {
  const path = memoryFile(context, vm, tag);
  await context.host.files.makeFolder(memoryFolder(context.state.vm(vm)));
  await runQemuImg(context, ["create", "-q", "-f", "qcow2", path, DISK_SIZE], path, signal);
  return path;
}

/** Makes (`create`), goes back to (`apply`) or deletes a snapshot of a disk that no machine uses. */
export async function snapshotAtRest(
  context: QemuContext,
  action: "create" | "apply" | "delete",
  tag: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const option = { create: "-c", apply: "-a", delete: "-d" }[action];
  await runQemuImg(context, ["snapshot", option, tag, path], path, signal);
}

/** Runs qemu-img. Throws `hv.io` on a full or locked disk, else `hv.job_failed`, with its words. */
export async function runQemuImg(
  context: QemuContext,
  args: readonly string[],
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await findQemuImg(context);
  const finished = await context.host.processes.run(QEMU_IMG, args, { signal });
  if (finished.code === 0) return;
  const words = new TextDecoder().decode(finished.stderr).trim();
  const isFull = words.includes("No space left on device");
  const isLocked = /Failed to get .* lock/.test(words);
  throw new HvError(isFull || isLocked ? "hv.io" : "hv.job_failed", `Cannot work on "${path}": ${words}`, {
    hint: isFull
      ? "Free some space"
      : isLocked
      ? "Another program uses the file; end it first"
      : "Correct what qemu-img names, and try again",
    context: { path, ...(isFull ? { reason: "disk_full" } : isLocked ? { reason: "locked" } : {}) },
  });
}

/** Tags for which there is a file of memory, whether it is whole or not. */
export async function memoryTags({ host, state }: QemuContext, vm: string): Promise<string[]> {
  const folder = memoryFolder(state.vm(vm));
  if (await host.files.stat(folder) === undefined) return [];
  return (await host.files.list(folder)).map(({ name }) => name)
    .filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
}

/** What of a checkpoint is missing where it should be, one phrase for each part; nothing when it is whole. */
export async function missingParts(
  context: QemuContext,
  vm: string,
  tag: string,
  parts: { disks: readonly string[]; memory: boolean },
): Promise<string[]> {
  const known = await disksOf(context, vm);
  const missing: string[] = [];
  for (const node of parts.disks) {
    const disk = known.find((candidate) => candidate.node === node);
    if (disk === undefined) missing.push(`the disk "${node}"`);
    else if (!await holds(context, disk.path, tag)) missing.push(`its snapshot in "${nameOf(disk.path)}"`);
  }
  if (!parts.memory) return missing;
  const path = memoryFile(context, vm, tag);
  return await holds(context, path, tag) ? missing : [...missing, `its memory in "${path}"`];
}

/** Throws `hv.io` when a part of a checkpoint is missing. */
export async function refuseIncomplete(
  context: QemuContext,
  vm: string,
  { id, name, disks, memory }: CheckpointRecord,
): Promise<void> {
  const missing = await missingParts(context, vm, id, { disks, memory: memory !== undefined });
  if (missing.length === 0) return;
  throw new HvError("hv.io", `The checkpoint "${name}" is not whole: ${missing.join(", ")} is missing`, {
    hint: `Bring the files back, or delete it: hvlab checkpoint delete ${vm} ${id}`,
    context: { vm, checkpoint: id, missing },
  });
}

/** Whether the file is there and has a snapshot of this tag. */
export async function holds({ host }: QemuContext, path: string, tag: string): Promise<boolean> {
  return (await readSnapshots(host.files, path))?.some((snapshot) => snapshot.tag === tag) ?? false;
}
