/** Bringing a VM to a stop: asking the guest, pressing its power button, or cutting the power. */

import { HvError, toHvError } from "../../../base/errors.ts";
import type { StopMode } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import { quitAdopted } from "../adoption/power_off.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import { forgetSaved, saveVm } from "../checkpoints/saved.ts";
import { noticeEnd } from "../launch/children.ts";
import type { QemuContext } from "../context.ts";
import { askGuestToShutDown } from "../agent/shutdown.ts";
import { endHelpers } from "../launch/helpers.ts";
import { askMonitor } from "../monitor/monitors.ts";
import { type Observation, observe } from "../observe.ts";
import { endProcess } from "./power_off.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { removeRuntimeFolder, RuntimeFolder } from "../runtime_folder.ts";
import { tryTakeVmLock, waitForVmLock } from "../vm_lock.ts";

/** Between two looks at a guest that shuts down, which takes from 0.2 s to minutes. */
const LOOK_AGAIN_MS = 50;
/** A guest that was booting hears neither agent nor button; it is asked again until its agent has heard. */
const ASK_AGAIN_MS = 1_000;
const TIDY_LIMIT_MS = 10_000;

/**
 * Brings a VM to `off` or `saved` and returns once it is there; on a VM that is off it does nothing. `shutdown` and `button`
 * wait for the guest as long as the signal allows and never do more than ask.
 */
export async function stopVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  mode: StopMode,
  scope: CallScope,
): Promise<void> {
  const record = await records.get(id);
  if (mode === "save") refuseAdopted(record, "save");
  if (mode === "save") return await saveVm(context, records, id, scope);
  if (mode === "off") return await cutPower(context, records, id, scope);
  const seen = await observe(context, record, scope.signal);
  if (seen.alive || seen.state === "saved") {
    refuseDeafGuest(record, seen);
    scope.progress({ message: "Asking the guest to shut down" });
    const press = (): Promise<boolean> => pressButton(context, record, scope.signal);
    const ask = mode === "button"
      ? press
      : () => askGuestToShutDown(context.host, new RuntimeFolder(record.runtime), scope.signal);
    const heard = await ask();
    if (!heard && mode === "shutdown") await press();
    await waitUntilOff(context, record, mode, scope.signal, heard ? undefined : ask);
    await noticeEnd(context.host, record.id);
  }
  await tidyUp(context, record);
}

async function cutPower(
  context: QemuContext,
  records: VmRecords,
  id: string,
  scope: CallScope,
): Promise<void> {
  await using _lock = await waitForVmLock(context, id, "stopping", scope.signal);
  const record = await records.get(id);
  const seen = await observe(context, record, scope.signal);
  if (seen.alive) {
    scope.progress({ message: "Cutting the power" });
    if (record.adopted === undefined) await endProcess(context, record, scope.signal);
    else await quitAdopted(context, record, scope.signal);
  } else await endHelpers(context, record.runtime, scope.signal);
  await removeRuntimeFolder(context.host, new RuntimeFolder(record.runtime));
  await forgetSaved(context, records, id, false, scope.signal);
}

/** A guest that does not run cannot hear a request; waiting for it would only use up the caller's time. */
function refuseDeafGuest(record: VmRecord, { state, reason }: Observation): void {
  if (state === "running" || state === "stopping") return;
  const because = reason === undefined ? "" : `: ${reason}`;
  throw new HvError(
    state === "crashed" ? "hv.guest_crashed" : "hv.conflict",
    `Cannot shut "${record.name}" down: wanted "running", found "${state}"${because}`,
    {
      hint: `Cut its power: hvlab vm stop ${record.id} --mode off`,
      context: { vm: record.id, wanted: "running", found: state },
    },
  );
}

/** Answers whether QEMU has taken it. One that hangs up is most likely ending, which who waits for that will see. */
async function pressButton(context: QemuContext, record: VmRecord, signal: AbortSignal): Promise<boolean> {
  const runtime = new RuntimeFolder(record.runtime);
  try {
    const taken = await askMonitor(context.host, record.id, runtime, async (session) => {
      await session.command("system_powerdown", undefined, { signal });
      return {};
    }, { signal });
    return taken !== undefined;
  } catch (error) {
    const { code } = toHvError(error);
    if (code === "hv.unavailable" || code === "hv.outcome_unknown") return false;
    throw error;
  }
}

async function waitUntilOff(
  context: QemuContext,
  record: VmRecord,
  mode: StopMode,
  signal: AbortSignal,
  ask: (() => Promise<boolean>) | undefined,
): Promise<void> {
  const { clock } = context.host;
  let askAt = clock.monotonic() + ASK_AGAIN_MS;
  try {
    for (;;) {
      const seen = await observe(context, record, signal);
      if (!seen.alive) return;
      if (seen.state === "crashed") refuseDeafGuest(record, seen);
      await clock.sleep(LOOK_AGAIN_MS, signal);
      if (ask === undefined || clock.monotonic() < askAt) continue;
      if (await ask()) ask = undefined;
      askAt = clock.monotonic() + ASK_AGAIN_MS;
    }
  } catch (error) {
    const failure = toHvError(error);
    if (failure.code !== "hv.timeout") throw error;
    throw new HvError("hv.timeout", `"${record.name}" did not shut down in time`, {
      hint: `Wait longer with --timeout, or cut its power: hvlab vm stop ${record.id} --mode off`,
      context: { ...failure.context, vm: record.id, mode, wanted: "off" },
      cause: error,
    });
  }
}

/** Removes the sockets of a VM that went off by itself, unless a call has started it again meanwhile. */
async function tidyUp(context: QemuContext, record: VmRecord): Promise<void> {
  await using lock = await tryTakeVmLock(context, record.id, "stopping");
  if (lock === undefined) return;
  const limit = AbortSignal.timeout(TIDY_LIMIT_MS);
  const seen = await observe(context, record, limit);
  if (seen.alive) return;
  await endHelpers(context, record.runtime, limit);
  await removeRuntimeFolder(context.host, new RuntimeFolder(record.runtime));
}
