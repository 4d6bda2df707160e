/**
 * `vm stop --mode save`: a VM whose memory lies on disk and which goes on from there at its next start. The record
 * says how far a save or a resume has come, so that a call that was killed in between is understood by the next one:
 *
 * - `saving`: begun. The machine lives and goes on, or has died and its memory is lost as with a power cut.
 * - `saved`: the memory is on disk whole. The machine has ended, or stands still at that very point.
 * - `resuming`: the memory is loaded and the guest may have run since, so what is on disk is out of date.
 */

import { HvError } from "../../../base/errors.ts";
import { UndoList } from "../../../base/undo.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { type Observation, observe } from "../observe.ts";
import { endProcess } from "../power/power_off.ts";
import type { StartFrom } from "../power/start_from.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { removeRuntimeFolder, RuntimeFolder } from "../runtime_folder.ts";
import { waitForVmLock } from "../vm_lock.ts";
import { findBlockers, refuseBlocked, writableDisks } from "./disks.ts";
import { refuseHeldDisks } from "./held_disks.ts";
import { makeMemoryFile, memoryFile, missingParts } from "./files.ts";
import { machineAsSaved } from "./machine_layout.ts";
import { differences } from "./machine_shape.ts";
import { readShape } from "./read_shape.ts";
import { loadMemory, saveMemory } from "./state_node.ts";
import { readBook, saveBook } from "./records.ts";
import { removeSnapshots, strayMemoryFiles, tidyUpSnapshots } from "./tidy.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";

type Saved = NonNullable<VmRecord["saved"]>;

const CLEANUP_LIMIT_MS = 60_000;

/** Brings a running or paused VM to `saved`. On a VM that is off or saved it does nothing. */
export async function saveVm(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  scope: CallScope,
): Promise<void> {
  await using _lock = await waitForVmLock(context, vm, "saving", scope.signal);
  const record = await records.get(vm);
  const seen = await observe(context, record, scope.signal);
  if (!seen.alive) return;
  refuseUnsavable(record, seen);
  await writeMemory(context, records, record, seen, scope);
  await endProcess(context, record, scope.signal);
  await removeRuntimeFolder(context.host, new RuntimeFolder(record.runtime));
}

async function writeMemory(
  context: QemuContext,
  records: VmRecords,
  record: VmRecord,
  seen: Observation,
  { signal, progress }: CallScope,
): Promise<void> {
  const monitor = new VmMonitor(context, record);
  await monitor.finishOldJobs();
  await refuseHeldDisks(monitor, record);
  const disks = await writableDisks(monitor);
  refuseBlocked(monitor, "save the memory of", await findBlockers(monitor, disks, true));
  const nodes = disks.map(({ node }) => node);
  const saved: Saved = {
    phase: "saving",
    tag: `save-${crypto.randomUUID()}`,
    at: new Date(context.host.clock.now()).toISOString(),
    disks: nodes,
    memory: await readShape(monitor),
  };
  await using undo = new UndoList();
  undo.add("record", () => records.save(record));
  await records.save({ ...record, saved });
  undo.add("memory", () => {
    const limit = AbortSignal.timeout(CLEANUP_LIMIT_MS);
    return removeSnapshots(context, record.id, monitor, (tag) => tag === saved.tag, limit);
  });
  const file = await makeMemoryFile(context, record.id, saved.tag, signal);
  if (seen.state === "running") undo.add("pause", () => monitor.tell("cont"));
  // QEMU would let a guest that runs go on after the save, and what it did until the end would be lost.
  await monitor.tell("stop");
  progress({ message: "Saving memory" });
  await saveMemory(monitor, saved.tag, file, nodes);
  signal.throwIfAborted();
  await records.save({ ...record, saved: { ...saved, phase: "saved" } });
  undo.keep();
}

function refuseUnsavable(record: VmRecord, { state, reason }: Observation): void {
  if (state === "running" || state === "paused") return;
  const because = reason === undefined ? "" : `: ${reason}`;
  throw new HvError(
    state === "crashed" ? "hv.guest_crashed" : "hv.conflict",
    `Cannot save "${record.name}": wanted "running", found "${state}"${because}`,
    {
      hint: `Cut its power: hvlab vm stop ${record.id} --mode off`,
      context: { vm: record.id, wanted: "running", found: state },
    },
  );
}

/**
 * Puts right what a save or a resume left behind that did not end, before a start. The caller holds the lock.
 * Answers whether the machine runs now.
 */
export async function settleSaved(
  context: QemuContext,
  records: VmRecords,
  record: VmRecord,
  seen: Observation,
  signal: AbortSignal,
): Promise<boolean> {
  const { saved } = record;
  if (saved === undefined) return false;
  if (!seen.alive) {
    if (seen.state !== "saved") await forgetSaved(context, records, record.id, false, signal);
    return false;
  }
  if (seen.status === undefined) return false;
  // The guest has not run since it was loaded, so what is on disk holds; the start ends this process and loads again.
  if (seen.status === "prelaunch") {
    await records.save({ ...record, saved: { ...saved, phase: "saved" } });
    return false;
  }
  await forgetSaved(context, records, record.id, true, signal);
  if (seen.state === "paused") await new VmMonitor(context, record).tell("cont");
  return seen.state === "paused" || seen.state === "running";
}

/**
 * Puts a VM's checkpoints right before its guest boots: memory that a killed call left goes, and so does the mark of
 * a restore that did not end, since from now on the VM is what it boots from. The caller holds the lock. A book that
 * is damaged or cannot be written keeps no VM from starting; `checkpoint list` tells of it.
 */
async function settleCheckpoints(context: QemuContext, record: VmRecord): Promise<void> {
  try {
    const { restoring, ...book } = await readBook(context, record.id);
    const strays = await strayMemoryFiles(context, record, book);
    const limit = AbortSignal.timeout(CLEANUP_LIMIT_MS);
    if (strays.length > 0) await tidyUpSnapshots(context, record, book, undefined, limit);
    if (restoring !== undefined) await saveBook(context, record.id, book);
  } catch (error) {
    if (!(error instanceof HvError)) throw error;
  }
}

/**
 * How a saved VM starts; `undefined` for one that boots, whose checkpoints are put right first. Throws when its
 * memory is not whole.
 */
export async function startFromSaved(
  context: QemuContext,
  records: VmRecords,
  vm: string,
): Promise<StartFrom | undefined> {
  const record = await records.get(vm);
  const { saved } = record;
  if (saved?.phase !== "saved") {
    await settleCheckpoints(context, record);
    return undefined;
  }
  const missing = await missingParts(context, vm, saved.tag, { disks: saved.disks, memory: true });
  if (missing.length > 0) throw notResumable(record, `${missing.join(", ")} is missing`);
  return {
    plan: { paused: true },
    adapt: (plan) => machineAsSaved(plan, saved.memory),
    prepare: async (session, runtime) => {
      const monitor = new VmMonitor(context, { ...record, runtime: runtime.path }, session);
      const found = differences(saved.memory, await readShape(monitor));
      if (found.length > 0) throw notResumable(record, found.join("; "));
      await loadMemory(monitor, saved.tag, memoryFile(context, vm, saved.tag), saved.disks);
      const now = await records.get(vm);
      await records.save({ ...now, saved: { ...saved, phase: "resuming" } });
      await monitor.tell("cont");
    },
  };
}

/** Removes a saved memory and says so in the record; `lives` tells whether the machine lives. */
export async function forgetSaved(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  lives: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { saved, ...record } = await records.get(vm);
  if (saved === undefined) return;
  // While the guest goes on, the record must forget first; at rest the file goes first, since a full disk takes no record.
  if (lives) await records.save(record);
  const monitor = lives ? new VmMonitor(context, record) : undefined;
  await removeSnapshots(context, vm, monitor, (tag) => tag === saved.tag, signal);
  if (!lives) await records.save(record);
}

function notResumable({ id, name }: VmRecord, why: string): HvError {
  return new HvError("hv.unsupported", `Cannot resume "${name}" from its saved memory: ${why}`, {
    hint: `Give the machine back what it had, or give the memory up: hvlab vm stop ${id} --mode off`,
    context: { vm: id, wanted: "the machine that was saved", found: why },
  });
}
