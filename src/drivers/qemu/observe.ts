/** What a VM is right now. Derived at each look from its monitor and, where that is silent, from its process. */

import { HvError } from "../../base/errors.ts";
import { isPlainObject, type JsonValue } from "../../base/json.ts";
import type { Vm } from "../../contract/vm.ts";
import { showAccelerator } from "./launch/accelerators.ts";
import { seenProcess } from "./adoption/process.ts";
import { memoryFile } from "./checkpoints/files.ts";
import { describeBugCheck, readBugCheck } from "./console/bug_check.ts";
import type { QemuContext } from "./context.ts";
import { statusWithMark } from "./crashes/mark.ts";
import { ProcessView, type QemuProcess, startTime } from "./identity.ts";
import { askMonitor } from "./monitor/monitors.ts";
import type { QmpSession } from "./monitor/qmp.ts";
import { afterNextStart, type VmRecord } from "./records.ts";
import { RuntimeFolder } from "./runtime_folder.ts";
import { type SeenState, stateOf } from "./states.ts";
import { workOn } from "./vm_lock.ts";

/** What was seen of one VM. */
export interface Observation extends SeenState {
  /** Whether a process of the VM may be alive: `false` only when all looks say that there is none. */
  alive: boolean;
  pid?: number;
  accelerator?: string;
  /** QEMU's own word for its run state, when the monitor answered; `guest-panicked` behind a crash's mark as well. */
  status?: string;
}

/** A QEMU that has just been started opens its monitor within a fraction of a second; `ps` counts in seconds. */
const STARTING_MS = 5_000;

/** What the holder of a VM's lock does while its machine cannot answer. */
const SAVING: ReadonlySet<string> = new Set(["saving", "checkpointing"]);

/** Looks at a VM. Never throws for what it sees; only the signal ends it. */
export async function observe(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
  processes: ProcessView = new ProcessView(context),
): Promise<Observation> {
  const runtime = new RuntimeFolder(record.runtime);
  if (record.last_start === undefined && await context.host.files.stat(runtime.path) === undefined) {
    return await atRest(context, record);
  }
  let silent: string | undefined;
  let stranger = false;
  try {
    const seen = await askMonitor(context.host, record.id, runtime, readRunState, { signal });
    if (seen !== undefined) {
      const pid = await pidOf(context, record, runtime, processes);
      const status = await statusWithMark(context, record, seen.status);
      return {
        ...stateOf(status, seen),
        ...seen,
        status,
        alive: true,
        ...(pid === undefined ? {} : { pid }),
      };
    }
  } catch (error) {
    signal.throwIfAborted();
    silent = error instanceof Error ? error.message : String(error);
    stranger = error instanceof HvError && error.code === "hv.conflict";
  }
  return await observeProcess(context, record, processes, silent, stranger);
}

async function observeProcess(
  context: QemuContext,
  record: VmRecord,
  processes: ProcessView,
  silent: string | undefined,
  stranger: boolean,
): Promise<Observation> {
  let process: QemuProcess | undefined;
  try {
    process = await findProcess(context, record, processes);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return {
      state: "unknown",
      alive: true,
      reason: `Neither its monitor nor its process could be seen: ${words}`,
    };
  }
  if (process === undefined) {
    if (stranger && silent !== undefined) return { state: "unknown", alive: true, reason: silent };
    return await atRest(context, record);
  }
  const { pid } = process;
  if (silent !== undefined) {
    // While memory is written to disk the whole of QEMU stands still.
    if (SAVING.has(await workOn(context, record.id) ?? "")) return { state: "saving", alive: true, pid };
    return { state: "unknown", alive: true, pid, reason: `${silent}; process ${pid} is alive` };
  }
  const started = startTime(process);
  const isYoung = started !== null && context.host.clock.now() - started < STARTING_MS;
  // A start makes the folder before its process.
  if (isYoung && await context.host.files.stat(record.runtime) !== undefined) {
    return { state: "starting", alive: true, pid };
  }
  return {
    state: "unknown",
    alive: true,
    pid,
    reason: `Its monitor socket is gone, while process ${pid} is alive`,
  };
}

async function findProcess(
  context: QemuContext,
  record: VmRecord,
  processes: ProcessView,
): Promise<QemuProcess | undefined> {
  return record.adopted === undefined ? await processes.find(record.id) : await seenProcess(context, record);
}

/** A VM without a process is off, unless its memory waits on disk. */
async function atRest(context: QemuContext, { id, saved }: VmRecord): Promise<Observation> {
  const isSaved = saved?.phase === "saved" &&
    await context.host.files.stat(memoryFile(context, id, saved.tag)) !== undefined;
  return { state: isSaved ? "saved" : "off", alive: false };
}

/** The VM as the contract shows it. */
export function asVm(seenRecord: VmRecord, seen: Observation): Vm {
  const boots = !seen.alive && seen.state !== "saved";
  const record = boots ? afterNextStart(seenRecord) : seenRecord;
  const { image, firmware, at_next_start: pending } = record;
  return {
    id: record.id,
    name: record.name,
    state: seen.state,
    ...(seen.reason === undefined ? {} : { state_reason: seen.reason }),
    driver: "qemu",
    sandbox: record.sandbox !== undefined,
    managed: true,
    ...(image === undefined ? {} : { image }),
    memory_mb: record.memory_mb,
    cpus: record.cpus,
    ...(pending === undefined ? {} : { at_next_start: pending }),
    ...(firmware === undefined ? {} : { firmware }),
    ...(record.shares === undefined ? {} : { shares: record.shares }),
    ...(record.tpm ? { tpm: true } : {}),
    ...(record.cloud_init ? { cloud_init: true } : {}),
    ...(record.watchdog === undefined ? {} : { watchdog: record.watchdog }),
    ...(record.on_crash === undefined ? {} : { on_crash: record.on_crash }),
    ...(record.panic_on === undefined ? {} : { panic_on: record.panic_on }),
    ...(record.adopted === undefined ? {} : { adopted: true }),
    created_at: record.created_at,
    ...(seen.accelerator === undefined
      ? {}
      : { acceleration: showAccelerator(startedUnder(record, seen.accelerator)) }),
    ...(seen.pid === undefined ? {} : { pid: seen.pid }),
    ...(record.sandbox === undefined ? {} : { expires_at: record.sandbox.expires_at }),
  };
}

/** QEMU itself tells KVM from the rest only; which of the others it is stands in the record of the start. */
function startedUnder({ last_start: start }: VmRecord, seen: string): string {
  return seen === "kvm" || start === undefined || start.accelerator === "kvm" ? seen : start.accelerator;
}

interface RunState {
  status: string;
  accelerator: string;
  diskFull: boolean;
  /** The bug check with which Windows crashed, in words. */
  bugCheck?: string;
}

/** Asks the monitor for the run state and what explains it. */
export async function readRunState(session: QmpSession): Promise<RunState> {
  const [answer, kvm] = await Promise.all([session.command("query-status"), session.command("query-kvm")]);
  const status = isPlainObject(answer) && typeof answer.status === "string"
    ? answer.status
    : "without a name";
  const accelerator = isPlainObject(kvm) && kvm.enabled === true ? "kvm" : "tcg";
  const diskFull = status === "io-error" && hasFullDisk(await session.command("query-block"));
  const bugCheck = status === "guest-panicked" ? await readBugCheck(session) : undefined;
  return {
    status,
    accelerator,
    diskFull,
    ...(bugCheck === undefined ? {} : { bugCheck: await describeBugCheck(bugCheck) }),
  };
}

function hasFullDisk(blocks: JsonValue): boolean {
  return Array.isArray(blocks) &&
    blocks.some((block) => isPlainObject(block) && block["io-status"] === "nospace");
}

/** The pid of a VM whose monitor has answered. Where record and pid file agree no process need be asked. */
async function pidOf(
  context: QemuContext,
  record: VmRecord,
  runtime: RuntimeFolder,
  processes: ProcessView,
): Promise<number | undefined> {
  try {
    const written = await context.host.files.readTextIfPresent(runtime.pidFile);
    if (written !== undefined && written.trim() === String(record.last_start?.pid)) {
      return record.last_start?.pid;
    }
    return (await findProcess(context, record, processes))?.pid;
  } catch {
    // The state is known; a pid that cannot be read is left out rather than guessed.
    return undefined;
  }
}
