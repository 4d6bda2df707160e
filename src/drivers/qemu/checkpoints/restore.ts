/** Going back to a checkpoint. What can be known to fail is found before anything of the present state is given up. */

import { HvError, toHvError } from "../../../base/errors.ts";
import type { Loss } from "../../../contract/plan.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { forgetCrashMark } from "../crashes/mark.ts";
import { powerOn } from "../power/instance.ts";
import { type Observation, observe } from "../observe.ts";
import { endProcess } from "../power/power_off.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { removeRuntimeFolder, RuntimeFolder } from "../runtime_folder.ts";
import { takeVmLock } from "../vm_lock.ts";
import { setGuestClock } from "./clock.ts";
import { notSeen } from "./create.ts";
import { disksOf, holds, memoryFile, refuseIncomplete, snapshotAtRest } from "./files.ts";
import { deleteLive, snapshotLive } from "./live_disks.ts";
import { placedAsKept } from "./machine_layout.ts";
import { differences, type MachineShape, wouldFitAnew } from "./machine_shape.ts";
import { readShape } from "./read_shape.ts";
import { type CheckpointRecord, findRecord, readBook, saveBook } from "./records.ts";
import { forgetSaved } from "./saved.ts";
import { loadMemory } from "./state_node.ts";
import { removeSnapshots, tidyUpSnapshots } from "./tidy.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";

/** Run states of a machine whose memory can be replaced where it is; others have lost something that only a start brings back. */
const LOADABLE: ReadonlySet<string> = new Set([
  "running",
  "paused",
  "guest-panicked",
  "io-error",
  "watchdog",
]);
const CLEANUP_LIMIT_MS = 60_000;
const MIB = 1024 * 1024;

/** A checkpoint that holds memory. */
type WithMemory = CheckpointRecord & { memory: MachineShape };

/** Brings a VM into a checkpoint's state: running with its memory, or off with its disks. */
export async function restoreCheckpoint(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  id: string,
  scope: CallScope,
): Promise<void> {
  const brought = await restoreUnderLock(context, records, vm, id, scope);
  if (brought) await setGuestClock(context, await records.get(vm), scope);
}

async function restoreUnderLock(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  id: string,
  scope: CallScope,
): Promise<boolean> {
  await records.get(vm);
  await using _lock = await takeVmLock(context, vm, "restoring", "idle");
  const record = await records.get(vm);
  const book = await readBook(context, vm);
  const checkpoint = findRecord(book, vm, id);
  await refuseIncomplete(context, vm, checkpoint);
  const seen = await observe(context, record, scope.signal);
  if (seen.alive && seen.status === undefined) throw notSeen(record, seen);
  const monitor = seen.alive ? new VmMonitor(context, record) : undefined;
  await tidyUpSnapshots(context, record, book, monitor, scope.signal);
  if (hasMemory(checkpoint)) {
    const fits = monitor !== undefined && LOADABLE.has(seen.status ?? "") &&
      await fitsIn(monitor, checkpoint);
    await saveBook(context, vm, { ...book, restoring: id });
    if (fits) await loadInPlace(context, records, monitor, record, checkpoint, scope);
    else await startAnew(context, records, record, checkpoint, seen, scope);
  } else {
    await saveBook(context, vm, { ...book, restoring: id });
    await goBackAtRest(context, record, checkpoint, seen, scope);
  }
  if (hasMemory(checkpoint)) await forgetInRecord(records, vm);
  else await forgetSaved(context, records, vm, false, scope.signal);
  const { restoring: _, ...rest } = book;
  await saveBook(context, vm, { ...rest, current: id });
  if (hasMemory(checkpoint)) await removeOldMemory(context, records, record, scope);
  return hasMemory(checkpoint);
}

/** The machine lives with other memory than what was saved. */
async function forgetInRecord(records: VmRecords, vm: string): Promise<void> {
  const { saved, ...record } = await records.get(vm);
  if (saved !== undefined) await records.save(record);
}

/** Removes what was saved before the restore, which has succeeded whatever comes of this: the next call tidies up too. */
async function removeOldMemory(
  context: QemuContext,
  records: VmRecords,
  { id, name, saved }: VmRecord,
  { signal, warn }: CallScope,
): Promise<void> {
  if (saved === undefined) return;
  try {
    const monitor = new VmMonitor(context, await records.get(id));
    await removeSnapshots(context, id, monitor, (tag) => tag === saved.tag, signal);
  } catch (error) {
    warn?.(`The memory that was saved of "${name}" could not be removed: ${toHvError(error).message}`);
  }
}

/** What going back would take away. */
export async function lossesOfRestore(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  id: string,
  signal: AbortSignal,
): Promise<Loss[]> {
  const record = await records.get(vm);
  const checkpoint = findRecord(await readBook(context, vm), vm, id);
  const seen = await observe(context, record, signal);
  const losses: Loss[] = [];
  if (seen.alive) {
    losses.push({ what: "the memory of the machine as it is now", size_bytes: record.memory_mb * MIB });
  } else if (record.saved !== undefined && seen.state === "saved") {
    const path = memoryFile(context, vm, record.saved.tag);
    const facts = await context.host.files.stat(path);
    losses.push({
      what: "the saved memory",
      path,
      size_bytes: facts?.allocated_bytes ?? facts?.size_bytes ?? 0,
    });
  }
  for (const { node, path } of await disksOf(context, vm)) {
    if (!checkpoint.disks.includes(node)) continue;
    losses.push({ what: `what the disk "${node}" holds now and no checkpoint holds`, path });
  }
  return losses;
}

function hasMemory(checkpoint: CheckpointRecord): checkpoint is WithMemory {
  return checkpoint.memory !== undefined;
}

/** Whether the living machine takes the memory. Throws when neither it nor one started anew could. */
async function fitsIn(monitor: VmMonitor, checkpoint: WithMemory): Promise<boolean> {
  const now = await readShape(monitor);
  if (differences(checkpoint.memory, now).length === 0) return true;
  if (!wouldFitAnew(checkpoint.memory, now)) refuseOtherMachine(monitor, checkpoint, now);
  return false;
}

function refuseOtherMachine(monitor: VmMonitor, checkpoint: WithMemory, now: MachineShape): void {
  const found = differences(checkpoint.memory, now);
  if (found.length === 0) return;
  const { id, name } = monitor.vm;
  throw new HvError(
    "hv.unsupported",
    `The memory in the checkpoint "${checkpoint.name}" does not fit the machine of "${name}": ${
      found.join("; ")
    }`,
    {
      hint: `Give the machine back what it had; QEMU ${
        checkpoint.qemu ?? "of another version"
      } made the checkpoint`,
      context: { vm: id, checkpoint: checkpoint.id, differences: found },
    },
  );
}

async function loadInPlace(
  context: QemuContext,
  records: VmRecords,
  monitor: VmMonitor,
  record: VmRecord,
  checkpoint: WithMemory,
  scope: CallScope,
): Promise<void> {
  scope.progress({ message: "Loading memory" });
  try {
    await loadKeepingDisks(context, monitor, checkpoint);
  } catch (error) {
    if (!isBroken(error)) throw error;
    await endProcess(context, record, AbortSignal.timeout(CLEANUP_LIMIT_MS));
    await goBackFromFailure(context, records, record, checkpoint);
    throw error;
  }
  await forgetCrashMark(context, record.id);
  await monitor.tell("cont");
}

async function startAnew(
  context: QemuContext,
  records: VmRecords,
  record: VmRecord,
  checkpoint: WithMemory,
  seen: Observation,
  scope: CallScope,
): Promise<void> {
  if (seen.alive) await endProcess(context, record, scope.signal);
  await removeRuntimeFolder(context.host, new RuntimeFolder(record.runtime));
  const { machine, memory_mb, cpus } = checkpoint.memory;
  try {
    await powerOn(context, records, { ...record, machine, memory_mb, cpus }, scope, false, {
      plan: { paused: true },
      adapt: (plan) => placedAsKept(plan, checkpoint.memory),
      prepare: async (session, runtime) => {
        const monitor = new VmMonitor(context, { ...record, runtime: runtime.path }, session);
        refuseOtherMachine(monitor, checkpoint, await readShape(monitor));
        scope.progress({ message: "Loading memory" });
        await loadKeepingDisks(context, monitor, checkpoint);
        await forgetInRecord(records, record.id);
        await monitor.tell("cont");
      },
    });
  } catch (error) {
    await goBackFromFailure(context, records, record, checkpoint);
    throw error;
  }
}

/** Loads memory and disks with a way back for the disks, since QEMU changes them before it reads the memory. */
async function loadKeepingDisks(
  context: QemuContext,
  monitor: VmMonitor,
  checkpoint: WithMemory,
): Promise<void> {
  const { id, disks } = checkpoint;
  const way = wayBack(id);
  if (disks.length > 0) await snapshotLive(monitor, way, disks);
  await loadMemory(monitor, id, memoryFile(context, monitor.vm.id, id), disks);
  await deleteLive(monitor, disks, (tag) => tag === way);
}

/** The tag under which the disks are kept while a checkpoint is loaded; one that is left over is tidied up. */
function wayBack(id: string): string {
  return id.replace(/^ckpt-/, "undo-");
}

/** Whether the job that loads has failed: then the memory is neither what it was nor what it should be. */
function isBroken(error: unknown): error is HvError {
  return error instanceof HvError && error.context.command === "snapshot-load";
}

/** The machine has ended; its disks get back what they held before, the record its size, and nothing is half done. */
async function goBackFromFailure(
  context: QemuContext,
  records: VmRecords,
  record: VmRecord,
  { id }: CheckpointRecord,
): Promise<void> {
  const signal = AbortSignal.timeout(CLEANUP_LIMIT_MS);
  await removeRuntimeFolder(context.host, new RuntimeFolder(record.runtime));
  for (const { path } of await disksOf(context, record.id)) {
    if (!await holds(context, path, wayBack(id))) continue;
    await snapshotAtRest(context, "apply", wayBack(id), path, signal);
    await snapshotAtRest(context, "delete", wayBack(id), path, signal);
  }
  const { machine, memory_mb, cpus } = record;
  await records.save({ ...await records.get(record.id), machine, memory_mb, cpus });
  const { restoring: _, ...book } = await readBook(context, record.id);
  await saveBook(context, record.id, book);
}

async function goBackAtRest(
  context: QemuContext,
  record: VmRecord,
  checkpoint: CheckpointRecord,
  seen: Observation,
  { signal, progress }: CallScope,
): Promise<void> {
  if (seen.alive) {
    progress({ message: "Cutting the power" });
    await endProcess(context, record, signal);
  }
  await removeRuntimeFolder(context.host, new RuntimeFolder(record.runtime));
  progress({ message: "Bringing back disks" });
  for (const { node, path } of await disksOf(context, record.id)) {
    if (checkpoint.disks.includes(node)) await snapshotAtRest(context, "apply", checkpoint.id, path, signal);
  }
}
