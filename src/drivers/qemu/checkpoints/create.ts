/** Making a checkpoint: what would prevent it is found first, and a failure leaves the VM as it was. */

import { HvError } from "../../../base/errors.ts";
import { newCheckpointId } from "../../../base/ids.ts";
import { UndoList } from "../../../base/undo.ts";
import type { CallScope } from "../../call_scope.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import type { QemuContext } from "../context.ts";
import { type Observation, observe } from "../observe.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { takeVmLock } from "../vm_lock.ts";
import { attachedBlocker, findBlockers, refuseBlocked, writableDisks } from "./disks.ts";
import { disksOf, makeMemoryFile, snapshotAtRest } from "./files.ts";
import { snapshotLive } from "./live_disks.ts";
import { refuseHeldDisks } from "./held_disks.ts";
import { readShape } from "./read_shape.ts";
import { type CheckpointRecord, readBook, refuseTakenName, saveBook, withCheckpoint } from "./records.ts";
import { saveMemory } from "./state_node.ts";
import { removeSnapshots, tidyUpSnapshots } from "./tidy.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";

/** What the parts of a checkpoint are; the rest of its record is the same for all kinds. */
type Parts = Pick<CheckpointRecord, "disks" | "memory">;

const CLEANUP_LIMIT_MS = 60_000;

/** Makes a checkpoint and answers its id. */
export async function createCheckpoint(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  { name, memory_state }: { name: string; memory_state: boolean },
  scope: CallScope,
): Promise<string> {
  await records.get(vm);
  await using _lock = await takeVmLock(context, vm, "checkpointing", "idle");
  const record = await records.get(vm);
  refuseAdopted(record, "make a checkpoint of");
  const book = await readBook(context, vm);
  refuseTakenName(book, vm, name);
  const seen = await observe(context, record, scope.signal);
  if (memory_state) refuseNotRunning(record, seen);
  if (seen.alive && seen.status === undefined) throw notSeen(record, seen);
  const monitor = seen.alive ? new VmMonitor(context, record) : undefined;
  await tidyUpSnapshots(context, record, book, monitor, scope.signal);
  const id = newCheckpointId();
  await using undo = new UndoList();
  undo.add("snapshots", () => {
    const limit = AbortSignal.timeout(CLEANUP_LIMIT_MS);
    return removeSnapshots(context, vm, monitor, (tag) => tag === id, limit);
  });
  const parts = monitor === undefined
    ? await saveAtRest(context, record, id, scope)
    : memory_state
    ? await saveWithMemory(context, monitor, record, id, scope)
    : await saveDisks(monitor, id);
  scope.signal.throwIfAborted();
  const checkpoint: CheckpointRecord = {
    id,
    name,
    parent: book.current,
    created_at: new Date(context.host.clock.now()).toISOString(),
    ...parts,
    ...(record.last_start === undefined ? {} : { qemu: record.last_start.qemu }),
  };
  await saveBook(context, vm, withCheckpoint(book, checkpoint));
  undo.keep();
  return id;
}

async function saveWithMemory(
  context: QemuContext,
  monitor: VmMonitor,
  record: VmRecord,
  id: string,
  { signal, progress }: CallScope,
): Promise<Parts> {
  await refuseHeldDisks(monitor, record);
  const disks = await writableDisks(monitor);
  refuseBlocked(monitor, "save the memory of", await findBlockers(monitor, disks, true));
  const memory = await readShape(monitor);
  const file = await makeMemoryFile(context, monitor.vm.id, id, signal);
  const nodes = disks.map(({ node }) => node);
  progress({ message: "Saving memory; the guest stands still meanwhile" });
  await saveMemory(monitor, id, file, nodes);
  return { disks: nodes, memory };
}

async function saveDisks(monitor: VmMonitor, id: string): Promise<Parts> {
  const disks = await writableDisks(monitor);
  if (disks.length === 0) throw nothingToSave(monitor.vm);
  refuseBlocked(monitor, "make a checkpoint of", await findBlockers(monitor, disks, false));
  const nodes = disks.map(({ node }) => node);
  await snapshotLive(monitor, id, nodes);
  return { disks: nodes };
}

async function saveAtRest(
  context: QemuContext,
  record: VmRecord,
  id: string,
  { signal }: CallScope,
): Promise<Parts> {
  const attached = (record.disks ?? []).filter((disk) => !disk.read_only);
  refuseBlocked({ vm: record }, "make a checkpoint of", attached.map(({ path }) => attachedBlocker(path)));
  const disks = await disksOf(context, record.id);
  if (disks.length === 0) throw nothingToSave(record);
  for (const { path } of disks) await snapshotAtRest(context, "create", id, path, signal);
  return { disks: disks.map(({ node }) => node) };
}

function nothingToSave({ id, name }: Pick<VmRecord, "id" | "name">): HvError {
  return new HvError(
    "hv.unsupported",
    `"${name}" has no disk, so a checkpoint without memory would hold nothing`,
    {
      hint: `Start it and save its memory: hvlab checkpoint create ${id} NAME --memory-state`,
      context: { vm: id, reason: "no_disk" },
    },
  );
}

function refuseNotRunning(record: VmRecord, { state, reason }: Observation): void {
  if (state === "running") return;
  const because = reason === undefined ? "" : `: ${reason}`;
  throw new HvError(
    "hv.conflict",
    `Cannot save the memory of "${record.name}": wanted "running", found "${state}"${because}`,
    {
      hint: state === "paused"
        ? `Let it go on first: hvlab vm resume ${record.id}`
        : "Start it first, or make the checkpoint without memory",
      context: { vm: record.id, wanted: "running", found: state },
    },
  );
}

/** A machine that lives and does not answer can neither be asked for a snapshot nor be left out of account. */
export function notSeen(record: VmRecord, { state, reason }: Observation): HvError {
  const because = reason === undefined ? "" : `: ${reason}`;
  return new HvError("hv.conflict", `Cannot work on "${record.name}" while it is ${state}${because}`, {
    hint: `Wait a moment, or cut its power: hvlab vm stop ${record.id} --mode off`,
    context: { vm: record.id, wanted: "running or off", found: state },
    retryable: true,
  });
}
