/** The QEMU driver's checkpoints. */

import type { Checkpoint } from "../../../contract/checkpoint.ts";
import type { CheckpointAbilities, CheckpointListing } from "../../checkpoint_abilities.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import type { VmRecords } from "../records.ts";
import { takeVmLock } from "../vm_lock.ts";
import { createCheckpoint, notSeen } from "./create.ts";
import { exportCheckpoint } from "./export.ts";
import { memoryFile, missingParts } from "./files.ts";
import {
  type CheckpointBook,
  type CheckpointRecord,
  findRecord,
  readBook,
  refuseTakenName,
  saveBook,
  withoutCheckpoint,
} from "./records.ts";
import { lossesOfRestore, restoreCheckpoint } from "./restore.ts";
import { tidyUpSnapshots } from "./tidy.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";

/** Opens them. Touches nothing by itself. */
export function openCheckpoints(context: QemuContext, records: VmRecords): CheckpointAbilities {
  return {
    list: async (id) => {
      await records.get(id);
      return await listCheckpoints(context, id);
    },
    create: (id, options, scope) => createCheckpoint(context, records, id, options, scope),
    restore: (id, checkpoint, scope) => restoreCheckpoint(context, records, id, checkpoint, scope),
    losses: (id, checkpoint, signal) => lossesOfRestore(context, records, id, checkpoint, signal),
    remove: (id, checkpoint, scope) => removeCheckpoint(context, records, id, checkpoint, scope),
    rename: (id, checkpoint, name) => renameCheckpoint(context, records, id, checkpoint, name),
    export: (id, checkpoint, folder, scope) =>
      exportCheckpoint(context, records, id, checkpoint, folder, scope),
  };
}

/** Each is looked up in the files that should hold it; one that is not whole there is a warning. */
async function listCheckpoints(context: QemuContext, vm: string): Promise<CheckpointListing> {
  const book = await readBook(context, vm);
  const checkpoints: Checkpoint[] = [];
  const warnings: string[] = [];
  for (const record of book.checkpoints) {
    const { id, name, disks, memory } = record;
    const missing = await missingParts(context, vm, id, { disks, memory: memory !== undefined });
    if (missing.length === 0) checkpoints.push(await asCheckpoint(context, vm, book, record));
    else {
      warnings.push(
        `The checkpoint "${name}" (${id}) is not whole: ${
          missing.join(", ")
        } is missing; only deleting it makes sense`,
      );
    }
  }
  if (book.restoring !== undefined) {
    warnings.push(
      `The restore of ${book.restoring} did not end; what the VM holds now may be part of either state`,
    );
  }
  return { checkpoints, warnings };
}

async function asCheckpoint(
  context: QemuContext,
  vm: string,
  { current }: CheckpointBook,
  { id, name, parent, created_at, memory }: CheckpointRecord,
): Promise<Checkpoint> {
  const facts = memory === undefined ? undefined : await context.host.files.stat(memoryFile(context, vm, id));
  return {
    id,
    vm,
    name,
    parent,
    created_at,
    memory_state: memory !== undefined,
    restores_to: memory === undefined ? "off" : "running",
    current: current === id,
    size_bytes: facts === undefined ? null : facts.allocated_bytes ?? facts.size_bytes,
  };
}

/** The record goes first: a call that is killed after that leaves snapshots that the next one tidies up. */
async function removeCheckpoint(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  id: string,
  { signal }: CallScope,
): Promise<void> {
  await records.get(vm);
  await using _lock = await takeVmLock(context, vm, "checkpointing", "idle");
  const record = await records.get(vm);
  const book = await readBook(context, vm);
  const checkpoint = findRecord(book, vm, id);
  const seen = await observe(context, record, signal);
  if (seen.alive && seen.status === undefined) throw notSeen(record, seen);
  const left = withoutCheckpoint(book, checkpoint);
  await saveBook(context, vm, left);
  await tidyUpSnapshots(
    context,
    record,
    left,
    seen.alive ? new VmMonitor(context, record) : undefined,
    signal,
  );
}

async function renameCheckpoint(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  id: string,
  name: string,
): Promise<void> {
  await records.get(vm);
  await using _lock = await takeVmLock(context, vm, "checkpointing", "idle");
  const book = await readBook(context, vm);
  findRecord(book, vm, id);
  refuseTakenName(book, vm, name, id);
  const checkpoints = book.checkpoints.map((other) => other.id === id ? { ...other, name } : other);
  await saveBook(context, vm, { ...book, checkpoints });
}
