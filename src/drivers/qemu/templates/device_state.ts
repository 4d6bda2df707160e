/** The state of a machine's devices, as one stream over a unix socket: out of a template, into its clones. */

import { HvError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import type { Host } from "../../../host/host.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import type { RuntimeFolder } from "../runtime_folder.ts";

/** Leaves RAM out of the stream when it lies in a file. QEMU 7.2 takes it over the monitor only. */
const CAPABILITIES = { capabilities: [{ capability: "x-ignore-shared", state: true }] };
const UNLIMITED_BANDWIDTH = 2 ** 40;
const FIRST_LOOK_MS = 1;
const LAST_LOOK_MS = 20;
const FREEZE_LIMIT_MS = 60_000;

function socketIn(runtime: RuntimeFolder): string {
  return joinPath(runtime.path, "devices");
}

/**
 * Writes the state of a running machine's devices to a new file, and leaves the machine halted for good. The run
 * state travels in the stream, so the machine must not be stopped first: its clones would stay so.
 */
export async function saveDeviceState(
  host: Host,
  session: QmpSession,
  runtime: RuntimeFolder,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  await session.command("migrate-set-capabilities", CAPABILITIES, { signal });
  await session.command("migrate-set-parameters", { "max-bandwidth": UNLIMITED_BANDWIDTH }, { signal });
  const socket = socketIn(runtime);
  using listener = host.sockets.listenUnix(socket);
  const receiving = receive(host, listener, file, signal);
  receiving.catch(() => {});
  await session.command("migrate", { uri: `unix:${socket}` }, { signal });
  await receiving;
  await waitForMigration(host, session, signal);
  await host.files.remove(socket);
}

async function receive(
  host: Host,
  listener: ReturnType<Host["sockets"]["listenUnix"]>,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  using connection = await listener.accept(AbortSignal.any([signal, AbortSignal.timeout(FREEZE_LIMIT_MS)]));
  using writer = await host.files.create(file);
  for (;;) {
    signal.throwIfAborted();
    const bytes = await connection.read();
    if (bytes === null) break;
    await writer.write(bytes);
  }
}

async function waitForMigration(host: Host, session: QmpSession, signal: AbortSignal): Promise<void> {
  for (let pause = FIRST_LOOK_MS;; pause = Math.min(pause * 1.5, LAST_LOOK_MS)) {
    const seen = await session.command("query-migrate", undefined, { signal });
    const status = isPlainObject(seen) ? seen.status : undefined;
    if (status === "completed") return;
    if (status === "failed" || status === "cancelled") {
      const words = isPlainObject(seen) && typeof seen["error-desc"] === "string"
        ? seen["error-desc"]
        : status;
      throw new HvError("hv.job_failed", `QEMU could not save the machine's state: ${words}`, {
        hint: "Correct what QEMU names, and warm the image again: hvlab image warm IMAGE",
        context: { qemu: words },
      });
    }
    await host.clock.sleep(pause, signal);
  }
}

/** Gives a machine that waits for it the state of its devices, and returns when QEMU has taken it in. */
export async function loadDeviceState(
  host: Host,
  session: QmpSession,
  runtime: RuntimeFolder,
  state: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  await session.command("migrate-set-capabilities", CAPABILITIES, { signal });
  const socket = socketIn(runtime);
  const resumed = Promise.withResolvers<void>();
  const forget = session.onEvent(({ name }) => {
    if (name === "RESUME" || name === "STOP") resumed.resolve();
  });
  try {
    await session.command("migrate-incoming", { uri: `unix:${socket}` }, { signal });
    using connection = await host.sockets.connectUnix(socket);
    if (connection === undefined) {
      throw new HvError("hv.job_failed", "QEMU does not take the machine's state", {
        hint: "Make the template anew: hvlab image drop IMAGE, then hvlab image warm IMAGE",
        context: { path: socket },
      });
    }
    await connection.write(state);
    await waitUntilLoaded(host, session, resumed.promise, signal);
  } finally {
    forget();
  }
}

const NEVER = new Promise<void>(() => {});

async function waitUntilLoaded(
  host: Host,
  session: QmpSession,
  resumed: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let hint: Promise<void> = resumed;
  for (let pause = FIRST_LOOK_MS;; pause = Math.min(pause * 2, LAST_LOOK_MS)) {
    const seen = await session.command("query-status", undefined, { signal });
    if (!isPlainObject(seen) || seen.status !== "inmigrate") return;
    const timer = new AbortController();
    const late = host.clock.sleep(pause, AbortSignal.any([signal, timer.signal])).catch(() => {});
    await Promise.race([hint.then(() => hint = NEVER), late]);
    timer.abort();
    signal.throwIfAborted();
  }
}
