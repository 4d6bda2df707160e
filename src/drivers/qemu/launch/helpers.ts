/**
 * Programs that serve one machine beside its QEMU: each is started before it, listens on a socket in the runtime
 * folder, and ends by itself when QEMU lets go of that socket. What they are is read from their command lines.
 */

import { HvError } from "../../../base/errors.ts";
import { folderOf, joinPath } from "../../../base/paths.ts";
import { waitForAll } from "../../../base/wait_for_all.ts";
import type { ProcessFacts } from "../../../host/process_table.ts";
import { endChild, noticeEnd, rememberChild } from "./children.ts";
import type { QemuContext } from "../context.ts";
import { readLogTail } from "./errors.ts";
import { settlesWithin } from "../patience.ts";

/** A program to start for a machine. */
export interface Helper {
  /** What it does, for messages. */
  purpose: string;
  program: string;
  args: readonly string[];
  /** The socket that it opens for QEMU. */
  socket: string;
  /** Where its own messages go. */
  log: string;
  /** The folder that it starts in. */
  cwd?: string;
}

/** A helper that lives. */
export interface HelperProcess extends ProcessFacts {
  /** The runtime folder with its socket. */
  runtime: string;
  socket: string;
}

/** Names of the programs, and where each names its socket; the words behind are ours and end the path. */
const KINDS: readonly { program: string; socket: RegExp }[] = [
  { program: "virtiofsd", socket: / --socket-path=(.+\/share-\d+) -o / },
  { program: "swtpm", socket: / --ctrl type=unixio,path=(.+\/tpm) --terminate$/ },
];
/** Written before the first helper starts, so that whoever comes later knows to look for them. */
const NOTE_FILE = "helpers";
/** virtiofsd keeps a lock file for each socket and never removes it (seen with 7.2). */
const VIRTIOFSD_LOCKS = "/var/run/virtiofsd";
const OPEN_LIMIT_MS = 10_000;
const LOOK_MS = 5;
const LET_GO_MS = 500;
const TERM_LIMIT_MS = 2_000;
const KILL_LIMIT_MS = 5_000;

/** Reads which socket a command line serves; `undefined` when it is not a helper's. */
export function readHelperSocket(args: string): string | undefined {
  for (const { socket } of KINDS) {
    const path = socket.exec(args)?.[1];
    if (path !== undefined) return path;
  }
  return undefined;
}

/**
 * Starts a machine's helpers and returns when each listens. The caller ends them when the start fails afterwards.
 * Throws `hv.unavailable` with a helper's last words.
 */
export async function startHelpers(
  context: QemuContext,
  runtime: string,
  helpers: readonly Helper[],
  { tiedToUs, signal }: { tiedToUs: boolean; signal: AbortSignal },
): Promise<void> {
  if (helpers.length === 0) return;
  await context.host.files.writeAtomically(joinPath(runtime, NOTE_FILE), "\n");
  for (const helper of helpers) await startOne(context, helper, tiedToUs, signal);
}

async function startOne(
  { host }: QemuContext,
  { purpose, program, args, socket, log, cwd }: Helper,
  tiedToUs: boolean,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const logStart = (await host.files.stat(log))?.size_bytes ?? 0;
  await host.files.remove(socket);
  const child = await host.processes.start(program, args, {
    logFile: log,
    ...(tiedToUs ? { tiedToUs } : {}),
    ...(cwd === undefined ? {} : { cwd }),
  });
  rememberChild(host, socket, child);
  child.forget();
  const end = host.clock.monotonic() + OPEN_LIMIT_MS;
  try {
    while (await host.files.stat(socket) === undefined) {
      const isOver = await settlesWithin(host.clock, child.ended, LOOK_MS, signal);
      if (!isOver && host.clock.monotonic() < end) continue;
      const words = (await readLogTail(host, log, logStart)).trim();
      throw new HvError("hv.unavailable", `${purpose} did not start: ${words || "it said nothing"}`, {
        hint: "Correct what it names, and start the VM again",
        context: { program, log },
        retryable: false,
      });
    }
  } catch (error) {
    // By its command line nobody finds it while it is a program that has still to become the helper.
    await endChild(host, child, [["TERM", TERM_LIMIT_MS], ["KILL", KILL_LIMIT_MS]]);
    throw error;
  }
}

/** Every helper that lives on this machine. */
export async function findHelpers({ host }: QemuContext): Promise<HelperProcess[]> {
  const tables = await waitForAll(KINDS.map(({ program }) => host.processes.list(program)));
  return tables.flat().flatMap((facts) => {
    const socket = readHelperSocket(facts.args);
    return socket === undefined ? [] : [{ ...facts, socket, runtime: folderOf(socket) }];
  });
}

/**
 * Returns once no helper of a runtime folder is left. Only for a machine whose QEMU has been seen to be gone: helpers
 * then end by themselves, except those that no QEMU ever came to.
 */
export async function endHelpers(context: QemuContext, runtime: string, signal: AbortSignal): Promise<void> {
  const { host } = context;
  if (await host.files.stat(joinPath(runtime, NOTE_FILE)) === undefined) return;
  for (const helper of await helpersOf(context, runtime)) await endOne(context, helper, signal);
  for (const { name } of await host.files.list(runtime)) {
    if (!/^share-\d+$/.test(name)) continue;
    const path = joinPath(runtime, name);
    await noticeEnd(host, path);
    await host.files.remove(joinPath(VIRTIOFSD_LOCKS, `${path.replaceAll("/", ".")}.pid`));
  }
  await noticeEnd(host, joinPath(runtime, "tpm"));
}

async function helpersOf(context: QemuContext, runtime: string): Promise<HelperProcess[]> {
  return (await findHelpers(context)).filter((helper) => helper.runtime === runtime);
}

async function endOne(context: QemuContext, helper: HelperProcess, signal: AbortSignal): Promise<void> {
  const { processes } = context.host;
  if (await isGone(context, helper, LET_GO_MS, signal)) return;
  await processes.kill(helper.pid, "TERM");
  if (await isGone(context, helper, TERM_LIMIT_MS, signal)) return;
  await processes.kill(helper.pid, "KILL");
  if (await isGone(context, helper, KILL_LIMIT_MS, signal)) return;
  throw new HvError("hv.io", `Process ${helper.pid} does not end, not even by SIGKILL`, {
    hint: "Look what it waits for: a disk or a network file system that does not answer",
    context: { pid: helper.pid, command: helper.args },
  });
}

/** A pid can have gone to another program meanwhile: start time and command line must be the same. */
async function isGone(
  { host }: QemuContext,
  { pid, started, args }: HelperProcess,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const end = host.clock.monotonic() + limitMs;
  for (let pause = LOOK_MS;; pause *= 1.5) {
    const now = await host.processes.describe(pid);
    if (now === undefined || now.started !== started || now.args !== args) return true;
    if (host.clock.monotonic() >= end) return false;
    await host.clock.sleep(pause, signal);
  }
}
