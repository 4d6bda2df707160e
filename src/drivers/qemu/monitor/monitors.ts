/** Conversations with the monitors of one VM: each proves first that it is that VM. */

import { HvError } from "../../../base/errors.ts";
import { uuidOf } from "../../../base/ids.ts";
import { isPlainObject } from "../../../base/json.ts";
import type { Host } from "../../../host/host.ts";
import { QmpSession, type SessionOptions } from "./qmp.ts";
import type { MonitorRole, RuntimeFolder } from "../runtime_folder.ts";

/** A call holds its monitor for one request, so the next one's turn comes within milliseconds. */
const TURN_LIMIT_MS = 10_000;
/** Looks come quickly at first, since turns are short, and then less often. */
const FIRST_LOOK_MS = 1;
const LAST_LOOK_MS = 50;

export interface MonitorOptions extends SessionOptions {
  role?: MonitorRole;
}

/**
 * Opens a session with a VM's monitor, does one piece of work in it and gives the monitor back. Answers
 * `undefined` when nobody listens. Throws `hv.conflict` with the reason `monitor_busy` when the monitor has a
 * client already, and with the reason `foreign_monitor` when another VM answers.
 */
export async function askMonitor<T extends object>(
  host: Host,
  id: string,
  runtime: RuntimeFolder,
  work: (session: QmpSession) => Promise<T>,
  options: MonitorOptions = {},
): Promise<T | undefined> {
  const role = options.role ?? "calls";
  const path = runtime.monitor(role);
  if (await host.files.stat(path) === undefined) return undefined;
  using turn = await takeTurn(host, runtime.monitorLock(role), options.signal);
  if (turn === undefined) return undefined;
  const connection = await host.sockets.connectUnix(path);
  if (connection === undefined) return undefined;
  using session = await QmpSession.open(connection, host.clock, { ...options, outOfBand: role === "rescue" });
  try {
    await proveIdentity(session, id, path, options.signal);
    return await work(session);
  } finally {
    session.close();
    await session.ended;
  }
}

/** Checks that the VM behind a session is the one that is meant. */
export async function proveIdentity(
  session: QmpSession,
  id: string,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  const answer = await session.command("query-uuid", undefined, { signal });
  const found = isPlainObject(answer) ? answer.UUID : undefined;
  if (found === uuidOf(id)) return;
  throw new HvError("hv.conflict", `Another VM answers at "${path}"`, {
    hint: "Look at the processes that use this path; hvlab does not touch them",
    context: {
      reason: "foreign_monitor",
      path,
      wanted: uuidOf(id),
      found: typeof found === "string" ? found : null,
    },
  });
}

/** `undefined` when the runtime folder is gone, and with it whoever could have listened. */
async function takeTurn(
  host: Host,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Disposable | undefined> {
  const end = host.clock.monotonic() + TURN_LIMIT_MS;
  for (let pause = FIRST_LOOK_MS;; pause = Math.min(pause * 1.5, LAST_LOOK_MS)) {
    let lock: Disposable | undefined;
    try {
      lock = await host.locks.tryTake(path, { folderMustExist: true });
    } catch (error) {
      if (error instanceof HvError && error.code === "hv.not_found") return undefined;
      throw error;
    }
    if (lock !== undefined) return lock;
    if (host.clock.monotonic() >= end) {
      throw new HvError("hv.conflict", "The VM's monitor is busy: another hvlab call holds it", {
        hint: "Try again in a moment",
        context: { reason: "monitor_busy", path, wanted: "idle", found: "busy" },
        retryable: true,
      });
    }
    await host.clock.sleep(pause, signal);
  }
}
