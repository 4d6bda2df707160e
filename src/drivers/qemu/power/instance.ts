/** One VM's power: started and stopped under its own lock, seen anew before every step. */

import { HvError } from "../../../base/errors.ts";
import { uuidOf } from "../../../base/ids.ts";
import { joinPath } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import { waitForAll } from "../../../base/wait_for_all.ts";
import type { CallScope } from "../../call_scope.ts";
import {
  type Acceleration,
  distrustHardware,
  isAcceleratorFailure,
  probeAcceleration,
} from "../launch/acceleration.ts";
import { hardwareOf } from "../launch/accelerators.ts";
import type { Boot, MachinePlan } from "../launch/machine_plan.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import { bootOf, partsOf } from "../launch/boot_files.ts";
import { setGuestClock } from "../checkpoints/clock.ts";
import { forgetSaved, settleSaved, startFromSaved } from "../checkpoints/saved.ts";
import type { QemuContext } from "../context.ts";
import { drivesOf, proveBase } from "../disks/at_start.ts";
import { withHolder } from "../disks/disk_program.ts";
import { endHelpers, startHelpers } from "../launch/helpers.ts";
import { refuseTakenSocket } from "../devices/serial_socket.ts";
import { launch } from "../launch/launch.ts";
import { openForwardsAtStart } from "../network/start.ts";
import { type Observation, observe } from "../observe.ts";
import { endProcess } from "./power_off.ts";
import type { StartFrom } from "./start_from.ts";
import { readQemuProgram } from "../launch/program.ts";
import { afterNextStart, type VmRecord, type VmRecords } from "../records.ts";
import { prepareRuntimeFolder, removeRuntimeFolder, RuntimeFolder } from "../runtime_folder.ts";
import { planShares } from "../shares.ts";
import { findTpmProgram, tpmHelper } from "../launch/tpm.ts";
import { takeVmLock } from "../vm_lock.ts";

/** QEMU's own messages. */
export const QEMU_LOG = "qemu.log";
/** What the guest writes to its first serial port, since its last start. */
export const SERIAL_LOG = "serial.log";
/** Each look asks `ps`. */
const LOOK_AGAIN_MS = 50;
const CLEANUP_LIMIT_MS = 30_000;

/**
 * Powers a VM on and returns once it runs. On a running VM it does nothing. Throws `hv.conflict` when another call
 * is at work on it, and what QEMU says when it refuses to start.
 */
export async function startVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  scope: CallScope,
): Promise<void> {
  await records.get(id);
  await using _lock = await takeVmLock(context, id, "starting", "off");
  const record = await records.get(id);
  const seen = await observeOpened(context, record, scope.signal);
  if (record.adopted !== undefined) {
    if (seen.state === "running") return;
    if (seen.alive) throw notOff(record, seen);
    refuseAdopted(record, "start");
  }
  if (seen.status === "internal-error") {
    const { label } = hardwareOf(context.host.os);
    await distrustHardware(context, `A guest stopped with an internal error of ${label}: ${record.name}`);
    await endProcess(context, record, scope.signal);
  } else if (await settleSaved(context, records, record, seen, scope.signal)) return;
  // Nobody else holds the lock, so whoever was starting it is gone.
  else if (seen.state === "starting") {
    await endProcess(context, record, scope.signal);
  } else if (seen.state === "running") return;
  else if (seen.alive) throw notOff(record, seen);
  await forgetOldRuntime(context, record, scope.signal);
  await bringUp(context, records, id, scope);
}

/**
 * Looks at a VM until it is plain what it is. A young process without a monitor was left by a starter that was killed
 * and opens its monitor in a moment, or has run all along and has lost its sockets: only the one that opens it may
 * be taken for abandoned.
 */
async function observeOpened(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<Observation> {
  for (;;) {
    const seen = await observe(context, record, signal);
    if (seen.state !== "starting" || seen.status !== undefined) return seen;
    await context.host.clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

/** Boots the guest, or lets it go on where its memory was saved. */
async function bringUp(
  context: QemuContext,
  records: VmRecords,
  id: string,
  scope: CallScope,
): Promise<void> {
  const from = await startFromSaved(context, records, id);
  const record = await records.get(id);
  // Saved memory fits only the machine that it was saved of.
  await powerOn(context, records, from === undefined ? afterNextStart(record) : record, scope, false, from);
  if (from === undefined) return;
  await forgetSaved(context, records, id, true, scope.signal);
  await setGuestClock(context, await records.get(id), scope);
}

/** Sockets of the last run lie elsewhere when it was started under another XDG_RUNTIME_DIR. */
async function forgetOldRuntime(context: QemuContext, record: VmRecord, signal: AbortSignal): Promise<void> {
  if (record.runtime === RuntimeFolder.of(context.host, record.id).path) return;
  await endHelpers(context, record.runtime, signal);
  await removeRuntimeFolder(context.host, new RuntimeFolder(record.runtime));
}

function notOff(record: VmRecord, { state: found, reason }: Observation): HvError {
  const because = reason === undefined ? "" : `: ${reason}`;
  return new HvError(
    "hv.conflict",
    `Cannot start "${record.name}": wanted "off", found "${found}"${because}`,
    {
      hint: found === "paused"
        ? `Let it go on: hvlab vm resume ${record.id}`
        : `Power it off first: hvlab vm stop ${record.id} --mode off`,
      context: { vm: record.id, wanted: "off", found },
    },
  );
}

/** Starts the machine of a VM that is known to be off; the caller holds its lock. A failure leaves it off. */
export async function powerOn(
  context: QemuContext,
  records: VmRecords,
  record: VmRecord,
  scope: CallScope,
  tiedToUs: boolean,
  from?: StartFrom,
): Promise<void> {
  scope.progress({ message: "Starting QEMU" });
  const acceleration = await probeAcceleration(context, scope.signal);
  try {
    await startUnder(context, records, record, scope, { acceleration, tiedToUs, from });
  } catch (error) {
    if (from !== undefined || !isAcceleratorFailure(acceleration.accelerator, error)) {
      throw await withHolder(context, error);
    }
    const emulation = await distrustHardware(context, `QEMU could not start a guest: ${error.message}`);
    await startUnder(context, records, record, scope, { acceleration: emulation, tiedToUs, from });
  }
}

async function startUnder(
  context: QemuContext,
  records: VmRecords,
  stored: VmRecord,
  { signal, warn }: CallScope,
  { acceleration, tiedToUs, from }: {
    acceleration: Acceleration;
    tiedToUs: boolean;
    from: StartFrom | undefined;
  },
): Promise<void> {
  const { host } = context;
  const record = await proveBase(context, stored, signal);
  const [qemu, boot, parts, disks] = await waitForAll([
    readQemuProgram(context, { remember: true, signal }),
    from?.plan.boot ?? bootOf(context, record),
    partsOf(context, record),
    drivesOf(context, record, signal),
  ]);
  if (record.serial_socket !== undefined) await refuseTakenSocket(host, record.serial_socket);
  // The record names the folder of the last start; another environment may give another one now.
  const runtime = RuntimeFolder.of(host, record.id);
  await using undo = new UndoList();
  await prepareRuntimeFolder(host, runtime, { vm: record.id, state: context.state.root });
  undo.add("runtime folder", () => removeRuntimeFolder(host, runtime));
  undo.add("helpers", () => endHelpers(context, runtime.path, AbortSignal.timeout(CLEANUP_LIMIT_MS)));
  if (from?.giveUp !== undefined) undo.add("preparations", from.giveUp);
  const helped = await bringUpHelpers(context, record, runtime, { tiedToUs, signal });
  const plan: MachinePlan = {
    ...planOf(context, record, acceleration, boot, runtime),
    ...parts,
    ...helped,
    ...(disks.length === 0 ? {} : { disks }),
    ...from?.plan,
  };
  let noted = Promise.resolve();
  await launch(context, {
    id: record.id,
    plan: from?.adapt?.(plan) ?? plan,
    runtime,
    log: joinPath(context.state.vm(record.id), QEMU_LOG),
    tiedToUs,
    signal,
    onSpawned: async (pid) => {
      noted = records.save({
        ...record,
        runtime: runtime.path,
        last_start: {
          pid,
          at: new Date(host.clock.now()).toISOString(),
          accelerator: acceleration.accelerator,
          qemu: qemu.version,
        },
      });
      await noted;
      // The record comes first: a keeper that ends just now looks at the records once more.
      if (!tiedToUs && record.template?.pooled !== true) context.keeper?.wake();
    },
    ...(from === undefined && record.forwards === undefined ? {} : {
      prepare: async (session, ending) => {
        // What it writes into the record must come after what the start writes.
        await noted;
        // Ports first: what can be refused must be before a saved memory counts as used.
        await openForwardsAtStart(context, records, record.id, session, {
          signal: ending,
          ...(warn === undefined ? {} : { warn }),
        });
        await from?.prepare(session, runtime, ending);
      },
    }),
  });
  undo.keep();
}

/** Starts the programs that serve the machine beside QEMU; answers its parts that lead to them. */
async function bringUpHelpers(
  context: QemuContext,
  record: VmRecord,
  runtime: RuntimeFolder,
  { tiedToUs, signal }: { tiedToUs: boolean; signal: AbortSignal },
): Promise<Pick<MachinePlan, "shares" | "tpm">> {
  if (record.shares === undefined && record.tpm !== true) return {};
  // Those of a starter that was killed wait for a QEMU that never comes.
  await endHelpers(context, runtime.path, signal);
  const { helpers, plans } = await planShares(context, record, runtime, signal);
  if (record.tpm) {
    await findTpmProgram(context);
    helpers.push(tpmHelper(context, record, runtime));
  }
  await startHelpers(context, runtime.path, helpers, { tiedToUs, signal });
  return {
    ...(plans.length === 0 ? {} : { shares: plans }),
    ...(record.tpm ? { tpm: runtime.tpm } : {}),
  };
}

function planOf(
  context: QemuContext,
  record: VmRecord,
  acceleration: Acceleration,
  boot: Boot,
  runtime: RuntimeFolder,
): MachinePlan {
  return {
    uuid: uuidOf(record.id),
    name: record.name,
    machine: record.machine,
    accelerator: acceleration.accelerator,
    memory_mb: record.memory_mb,
    cpus: record.cpus,
    boot,
    runtime,
    serialLog: joinPath(context.state.vm(record.id), SERIAL_LOG),
    confined: context.host.os === "linux",
  };
}
