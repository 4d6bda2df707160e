/** Crash policies of QEMU's machines. */

import { HvError } from "../../../base/errors.ts";
import type { CrashSettings } from "../../../contract/crash_policy.ts";
import { type CrashNote, readCrashNotes } from "../../../state/crash_notes.ts";
import type { CallScope } from "../../call_scope.ts";
import type { CrashAbilities } from "../../crash_abilities.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import type { QemuContext } from "../context.ts";
import { askMonitor } from "../monitor/monitors.ts";
import { observe } from "../observe.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";
import { takeVmLock } from "../vm_lock.ts";
import { forgetHeard } from "./console_note.ts";
import { isMarkedCrashed, markCrashed } from "./mark.ts";
import { panicCauses } from "./panic_words.ts";
import { awaitTold } from "./told.ts";

/** Double faults and NMIs print behind the panic event: 7.8 KB were complete after this time (Linux 6.12, emulated). */
const LAST_WORDS_MS = 500;

/** Opens them. Touches nothing by itself. */
export function openCrashes(context: QemuContext, records: VmRecords): CrashAbilities {
  return {
    configure: (id, settings, scope) => configureCrashes(context, records, id, settings, scope),
    finishConsole: (id, signal) => finishConsole(context, records, id, signal),
    told: async (id, signal) => await awaitTold(context, await records.get(id), signal),
    kept: (id) => lastKept(context, records, id),
  };
}

/** The part of a record that keeps settings; `stop` is what a record without any says. */
export function recordedCrashes(
  { on_crash, panic_on }: CrashSettings,
): Pick<VmRecord, "on_crash" | "panic_on"> {
  return {
    ...(on_crash === undefined || on_crash === "stop" ? {} : { on_crash }),
    ...(panic_on === undefined || panic_on.length === 0 ? {} : { panic_on }),
  };
}

async function configureCrashes(
  context: QemuContext,
  records: VmRecords,
  id: string,
  settings: CrashSettings,
  { signal }: CallScope,
): ReturnType<CrashAbilities["configure"]> {
  const changed = await recordSettings(context, records, id, settings, signal);
  const seen = changed === undefined ? undefined : await awaitTold(context, changed, signal);
  const isUntold = seen?.told === false;
  return {
    now: [
      ...(settings.on_crash === undefined ? [] : ["on_crash"]),
      ...(settings.panic_on === undefined || isUntold ? [] : ["panic_on"]),
    ],
    at_next_start: isUntold ? ["panic_on"] : [],
    ...(seen?.problem === undefined ? {} : { problem: seen.problem }),
  };
}

/** Answers the record when a kernel that runs has to be told of it. */
async function recordSettings(
  context: QemuContext,
  records: VmRecords,
  id: string,
  settings: CrashSettings,
  signal: AbortSignal,
): Promise<VmRecord | undefined> {
  await records.get(id);
  await using _lock = await takeVmLock(context, id, "configuring", "idle");
  const stored = await records.get(id);
  refuseAdopted(stored, "configure");
  const { alive } = await observe(context, stored, signal);
  const { on_crash, panic_on, ...rest } = stored;
  const changed = { ...rest, ...recordedCrashes({ on_crash, panic_on, ...settings }) };
  await records.save(changed);
  if (changed.on_crash === undefined) await forgetHeard(context, id);
  // A keeper that watches it looks at its record anew.
  context.keeper?.wake();
  return alive && panicCauses(changed).join() !== panicCauses(stored).join() ? changed : undefined;
}

/** A crash is marked once its core is there, so a note without a mark is that of memory which a checkpoint has replaced. */
async function lastKept(
  context: QemuContext,
  records: VmRecords,
  id: string,
): Promise<CrashNote | undefined> {
  const record = await records.get(id);
  const notes = await readCrashNotes(context.host, context.state, id);
  const note = notes.findLast(({ run }) => run === record.last_start?.at);
  const isWhole = note?.state === "kept" && note.kept?.failure === undefined;
  return isWhole && !await isMarkedCrashed(context, record) ? undefined : note;
}

async function finishConsole(
  context: QemuContext,
  records: VmRecords,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  await using _lock = await takeVmLock(context, id, "dumping", "idle");
  const record = await records.get(id);
  const { state } = await observe(context, record, signal);
  if (state !== "crashed") {
    throw new HvError("hv.conflict", `The guest of "${record.name}" is ${state}: wanted "crashed"`, {
      hint: "Look at the VM's state",
      context: { vm: id, wanted: "crashed", found: state },
    });
  }
  const hadItsTime = await isMarkedCrashed(context, record);
  if (!hadItsTime) await markCrashed(context, record);
  await askMonitor(context.host, id, new RuntimeFolder(record.runtime), async (session) => {
    try {
      if (!hadItsTime) {
        await session.command("cont", undefined, { signal });
        await context.host.clock.sleep(LAST_WORDS_MS, signal);
      }
    } finally {
      await session.command("stop");
    }
    return {};
  }, { signal });
}
