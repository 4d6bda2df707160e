/** Starting QEMU: from a plan to a machine whose monitor has answered, or to an error with nothing left behind. */

import { HvError } from "../../../base/errors.ts";
import type { Host } from "../../../host/host.ts";
import type { ChildProcess, ProcessLimits } from "../../../host/spawn.ts";
import { endChild, rememberChild } from "./children.ts";
import { machineArguments } from "./argv.ts";
import type { MachinePlan } from "./machine_plan.ts";
import { QEMU, type QemuContext } from "../context.ts";
import { launchFailure, readLogTail } from "./errors.ts";
import { proveIdentity } from "../monitor/monitors.ts";
import { readRunState } from "../observe.ts";
import { settlesWithin } from "../patience.ts";
import { QmpSession } from "../monitor/qmp.ts";
import type { RuntimeFolder } from "../runtime_folder.ts";

export interface LaunchOptions {
  id: string;
  plan: MachinePlan;
  runtime: RuntimeFolder;
  /** Where QEMU's own messages go. */
  log: string;
  tiedToUs: boolean;
  signal: AbortSignal;
  /** Called as soon as the process exists. */
  onSpawned: (pid: number) => Promise<void>;
  /** Called once the monitor has proved whose it is, before the machine is waited for. */
  prepare?: (session: QmpSession, signal: AbortSignal) => Promise<void>;
}

/** A machine that runs. */
export interface Launched {
  child: ChildProcess;
  accelerator: string;
  /** QEMU's own word for its run state. */
  status: string;
}

/** QEMU opens its monitor 15 to 40 ms after its start; a slow look would be the largest part of a start. */
const CONNECT_AGAIN_MS = 1;
/** Loading a kernel from a busy disk takes seconds at most. */
const READY_LIMIT_MS = 30_000;
const KILL_LIMIT_MS = 5_000;
const LAST_WORDS_MS = 1_000;

/** Starts QEMU and waits until its monitor has answered and the machine has left its start. Kills it on failure. */
export async function launch(context: QemuContext, options: LaunchOptions): Promise<Launched> {
  const { host } = context;
  const { log, signal } = options;
  const logStart = (await host.files.stat(log))?.size_bytes ?? 0;
  signal.throwIfAborted();
  const child = await host.processes.start(QEMU, machineArguments(options.plan), {
    logFile: log,
    ...(options.tiedToUs ? { tiedToUs: true } : {}),
    ...(host.os === "linux" ? { limits: limitsOf(context, options.plan) } : {}),
  });
  rememberChild(host, options.id, child);
  const over = new AbortController();
  const answer = waitUntilReady(context, options, AbortSignal.any([signal, over.signal]));
  const ending = child.ended.then(async (end) => {
    throw launchFailure(await readLogTail(host, log, logStart), end, { vm: options.id });
  });
  ending.catch(() => {});
  const told = options.onSpawned(child.pid);
  try {
    const [seen] = await Promise.all([
      preferEnding(host, Promise.race([answer, ending]), ending),
      told,
    ]);
    return { child, ...seen };
  } catch (error) {
    await endChild(host, child, [["KILL", KILL_LIMIT_MS]]);
    throw error;
  } finally {
    over.abort();
    child.forget();
    // Whoever cleans up after a failure, or tries again, writes the same record.
    await Promise.allSettled([answer, told]);
  }
}

/** QEMU's own memory, and the translated code under emulation (1 GiB), come on top of the guest's. */
function limitsOf({ config: { qemu } }: QemuContext, { memory_mb }: MachinePlan): ProcessLimits {
  return {
    data_bytes: (memory_mb + qemu.memory_overhead_mb) * 1024 * 1024,
    open_files: qemu.open_files,
    nice: qemu.nice,
  };
}

/** A monitor that closes is the first sign of a QEMU that gives up; what it said is the better answer. */
async function preferEnding<T>(host: Host, answer: Promise<T>, ending: Promise<never>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const code = error instanceof HvError ? error.code : undefined;
    if (code !== "hv.unavailable" && code !== "hv.outcome_unknown") throw error;
    if (await settlesWithin(host.clock, ending, LAST_WORDS_MS)) await ending;
    throw error;
  }
}

async function waitUntilReady(
  context: QemuContext,
  { id, runtime, log, prepare }: LaunchOptions,
  signal: AbortSignal,
): Promise<{ accelerator: string; status: string }> {
  const { host } = context;
  const path = runtime.monitor("calls");
  const end = host.clock.monotonic() + READY_LIMIT_MS;
  using _turn = await host.locks.take(runtime.monitorLock("calls"), signal);
  for (;;) {
    const connection = await host.sockets.connectUnix(path);
    if (connection !== undefined) {
      using session = await QmpSession.open(connection, host.clock, { signal, greetingMs: READY_LIMIT_MS });
      try {
        await proveIdentity(session, id, path, signal);
        await prepare?.(session, signal);
        return await waitUntilStarted(context, session, end, signal);
      } finally {
        session.close();
        await session.ended;
      }
    }
    if (host.clock.monotonic() > end) {
      throw new HvError("hv.timeout", `QEMU did not open its monitor within ${READY_LIMIT_MS / 1000} s`, {
        hint: `Start it again when this host has less to do: hvlab vm start ${id}`,
        context: { vm: id, log },
      });
    }
    await host.clock.sleep(CONNECT_AGAIN_MS, signal);
  }
}

async function waitUntilStarted(
  { host }: QemuContext,
  session: QmpSession,
  end: number,
  signal: AbortSignal,
): Promise<{ accelerator: string; status: string }> {
  for (;;) {
    const seen = await readRunState(session);
    if (seen.status !== "prelaunch" || host.clock.monotonic() > end) return seen;
    await host.clock.sleep(CONNECT_AGAIN_MS, signal);
  }
}
