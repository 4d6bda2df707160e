/**
 * A checkpoint as files of its own in a new folder: `vm.json` and what it names. Disks are whole, without anything
 * of the image or of other checkpoints; a checkpoint with memory is a saved VM, so that its first start goes on
 * where the checkpoint was made.
 */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import type { CallScope } from "../../driver.ts";
import type { QemuContext } from "../context.ts";
import { getImage } from "../images.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { takeVmLock } from "../vm_lock.ts";
import { disksOf, memoryFile, refuseIncomplete, runQemuImg, snapshotAtRest } from "./files.ts";
import { type CheckpointRecord, findRecord, readBook } from "./records.ts";

/** The record of an exported VM. */
export const EXPORT_RECORD = "vm.json";
const EXPORT_VERSION = 1;
const MEMORY_FILE = "memory.qcow2";

/** Writes a checkpoint into a folder that does not exist yet; a failure leaves none. Answers the files. */
export async function exportCheckpoint(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  id: string,
  target: string,
  { signal, progress }: CallScope,
): Promise<string[]> {
  const { files } = context.host;
  await records.get(vm);
  await using _lock = await takeVmLock(context, vm, "checkpointing", "idle");
  const record = await records.get(vm);
  const checkpoint = findRecord(await readBook(context, vm), vm, id);
  await refuseIncomplete(context, vm, checkpoint);
  if (await files.stat(target) !== undefined) {
    throw new HvError("hv.conflict", `Cannot export to "${target}": it exists`, {
      hint: "Name a folder that does not exist yet",
      context: { path: target, wanted: "absent", found: "present" },
    });
  }
  await using undo = new UndoList();
  undo.add("folder", () => files.remove(target));
  await files.makeFolder(target);
  // A path that begins with a slash is nothing else to qemu-img: no option and no protocol.
  const folder = await files.realPath(target);
  progress({ message: "Writing disks" });
  const disks = await exportDisks(context, checkpoint, vm, folder, signal);
  const boot = await exportBoot(context, record, folder, disks.length > 0);
  const memory = checkpoint.memory === undefined ? undefined : joinPath(folder, MEMORY_FILE);
  if (memory !== undefined) await files.copy(memoryFile(context, vm, id), memory);
  const path = joinPath(folder, EXPORT_RECORD);
  const text = JSON.stringify(
    {
      format: "hvlab-vm",
      version: EXPORT_VERSION,
      name: record.name,
      image: record.image,
      machine: checkpoint.memory?.machine ?? record.machine,
      memory_mb: checkpoint.memory?.memory_mb ?? record.memory_mb,
      cpus: checkpoint.memory?.cpus ?? record.cpus,
      boot: boot.record,
      disks: disks.map(({ node, file }) => ({ node, file, format: "qcow2" })),
      ...(checkpoint.memory === undefined
        ? {}
        : { saved: { file: MEMORY_FILE, tag: id, at: checkpoint.created_at, memory: checkpoint.memory } }),
      checkpoint: { id, name: checkpoint.name, created_at: checkpoint.created_at },
    },
    undefined,
    2,
  );
  await files.writeAtomically(path, text + "\n");
  undo.keep();
  const written = [
    ...disks.map(({ path }) => path),
    ...boot.files,
    ...(memory === undefined ? [] : [memory]),
  ];
  return [path, ...written];
}

async function exportDisks(
  context: QemuContext,
  { id, disks, memory }: CheckpointRecord,
  vm: string,
  folder: string,
  signal: AbortSignal,
): Promise<{ node: string; file: string; path: string }[]> {
  const written: { node: string; file: string; path: string }[] = [];
  for (const { node, path: source } of await disksOf(context, vm)) {
    if (!disks.includes(node)) continue;
    const file = `${node}.qcow2`;
    const path = joinPath(folder, file);
    // A snapshot's clusters do not change, so that a running VM's disk may be read beside it (-U).
    const from = ["-U", "-f", "qcow2", "-l", `snapshot.name=${id}`, "-O", "qcow2"];
    await runQemuImg(context, ["convert", ...from, source, path], source, signal);
    // Loading memory asks every disk for a snapshot of the same tag.
    if (memory !== undefined) await snapshotAtRest(context, "create", id, path, signal);
    written.push({ node, file, path });
  }
  return written;
}

/** A VM that boots a kernel takes the image's files along; one that boots its disk has it already. */
async function exportBoot(
  context: QemuContext,
  record: VmRecord,
  folder: string,
  bootsDisk: boolean,
): Promise<{ record: object; files: string[] }> {
  if (bootsDisk) return { record: { kind: "disk" }, files: [] };
  const image = await getImage(context, record.image);
  const files: string[] = [];
  const names: Record<string, string> = {};
  for (const { role, path } of image.files) {
    if (role === "disk") continue;
    const copy = joinPath(folder, role);
    await context.host.files.copy(path, copy);
    files.push(copy);
    names[role] = role;
  }
  return { record: { kind: "kernel", ...names, append: image.append ?? "" }, files };
}
