/** Halting a VM's processors and letting them go on. Nothing goes to disk. */

import { HvError } from "../../../base/errors.ts";
import type { CallScope } from "../../call_scope.ts";
import type { PauseAbilities } from "../../vm_extras.ts";
import { wayToRun } from "../../way_on.ts";
import { setGuestClock } from "../checkpoints/clock.ts";
import { forgetSaved } from "../checkpoints/saved.ts";
import type { QemuContext } from "../context.ts";
import { startVm } from "./instance.ts";
import { tellMachine } from "../monitor/tell.ts";
import { type Observation, observe } from "../observe.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { takeVmLock } from "../vm_lock.ts";

/** Pause and resume of the QEMU driver. */
export function openPause(context: QemuContext, records: VmRecords): PauseAbilities {
  return {
    pause: (id, scope) => pauseVm(context, records, id, scope),
    resume: (id, scope) => resumeVm(context, records, id, scope),
  };
}

async function pauseVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  { signal }: CallScope,
): Promise<void> {
  await records.get(id);
  await using _lock = await takeVmLock(context, id, "pausing", "running");
  const record = await records.get(id);
  const seen = await observe(context, record, signal);
  if (seen.state === "paused") return;
  if (seen.state !== "running") throw wrongState(record, "pause", "running", seen);
  await tellMachine(context.host, record, "stop", signal);
}

/** A VM that stands still because its disk was full goes on too, and tries the write again. */
async function resumeVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  scope: CallScope,
): Promise<void> {
  const record = await records.get(id);
  if ((await observe(context, record, scope.signal)).state === "saved") {
    return await startVm(context, records, id, scope);
  }
  await using _lock = await takeVmLock(context, id, "resuming", "paused");
  const seen = await observe(context, record, scope.signal);
  if (seen.state === "running") return;
  if (seen.state !== "paused" && seen.state !== "io_error") {
    throw wrongState(record, "resume", "paused", seen);
  }
  // A save that was broken off has left its mark; it holds no longer once the guest goes on.
  await forgetSaved(context, records, id, true, scope.signal);
  await tellMachine(context.host, record, "cont", scope.signal);
  await setGuestClock(context, record, scope);
}

function wrongState(
  { id, name, adopted }: VmRecord,
  action: string,
  wanted: string,
  { state, reason }: Observation,
): HvError {
  const because = reason === undefined ? "" : `: ${reason}`;
  return new HvError(
    "hv.conflict",
    `Cannot ${action} "${name}": wanted "${wanted}", found "${state}"${because}`,
    {
      hint: wayToRun({ id, state, adopted: adopted !== undefined }) ??
        `Look at it again in a moment: hvlab vm get ${id}`,
      context: { vm: id, wanted, found: state },
    },
  );
}
