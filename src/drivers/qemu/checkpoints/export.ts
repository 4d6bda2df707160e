/**
 * A checkpoint as files of its own in a new folder: `vm.json` and what it names. Disks are whole, without anything
 * of the image or of other checkpoints; a checkpoint with memory is a saved VM, so that its first start goes on
 * where the checkpoint was made.
 */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { copyBootFiles } from "../copies/boot_copy.ts";
import { writeExportRecord } from "../copies/export_record.ts";
import { deviceName, keyOfDevice } from "../disks/block_node.ts";
import { proveBase } from "../disks/at_start.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { refuseTpm } from "../launch/tpm.ts";
import { takeVmLock } from "../vm_lock.ts";
import { type DiskFile, disksOf, memoryFile, refuseIncomplete, runQemuImg, snapshotAtRest } from "./files.ts";
import { type CheckpointRecord, findRecord, readBook } from "./records.ts";

const MEMORY_FILE = "memory.qcow2";

/**
 * Writes a checkpoint into a folder that does not exist yet; a failure leaves none. Answers the files. Throws
 * `hv.bad_image` when the disk below the VM's own is not what it was.
 */
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
  const stored = await records.get(vm);
  refuseTpm(stored);
  const record = await proveBase(context, stored, signal);
  const checkpoint = findRecord(await readBook(context, vm), vm, id);
  await refuseIncomplete(context, vm, checkpoint);
  refuseForeignDisks(record, checkpoint);
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
  const { boot, files: kernelFiles } = await copyBootFiles(context, record, folder);
  const memory = checkpoint.memory === undefined ? undefined : joinPath(folder, MEMORY_FILE);
  if (memory !== undefined) await files.copy(memoryFile(context, vm, id), memory);
  const shape = checkpoint.memory;
  const path = await writeExportRecord(context, folder, record, {
    boot,
    disks: disks.map(({ node, file }) => ({ node, file, format: "qcow2" })),
    ...(shape === undefined ? {} : {
      machine: shape.machine,
      memory_mb: shape.memory_mb,
      cpus: shape.cpus,
      saved: { file: MEMORY_FILE, tag: id, at: checkpoint.created_at, memory: shape },
    }),
    checkpoint: { id, name: checkpoint.name, created_at: checkpoint.created_at },
  }, signal);
  undo.keep();
  const written = [
    ...disks.map(({ path }) => path),
    ...kernelFiles,
    ...(memory === undefined ? [] : [memory]),
  ];
  return [path, ...written];
}

/** An export holds the VM's own disks, and memory goes on only with all that it had. */
function refuseForeignDisks(
  { id, name, disks = [] }: VmRecord,
  { memory, ...checkpoint }: CheckpointRecord,
): void {
  const devices = memory?.devices.flatMap((device) => keyOfDevice(device.replace(/:.*$/, "")) ?? []) ?? [];
  const [first] = devices;
  if (first === undefined) return;
  const paths = devices.map((key) => disks.find((disk) => disk.key === key)?.path ?? deviceName(key));
  throw new HvError(
    "hv.unsupported",
    `Cannot export the checkpoint "${checkpoint.name}" of "${name}": its memory goes on only with the attached disk ${
      paths.map((path) => `"${path}"`).join(" and ")
    }, which an export does not hold`,
    {
      hint: "Go back to it, detach the disk, make another checkpoint and export that one",
      context: { vm: id, checkpoint: checkpoint.id, disks: paths },
    },
  );
}

async function exportDisks(
  context: QemuContext,
  { id, disks, memory }: CheckpointRecord,
  vm: string,
  folder: string,
  signal: AbortSignal,
): Promise<(DiskFile & { file: string })[]> {
  const written: (DiskFile & { file: string })[] = [];
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
