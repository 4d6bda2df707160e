/** Making a booted guest fit to be frozen: calm, warm, and with somebody in it who wakes its clones. */

import { HvError } from "../../../base/errors.ts";
import type { GuestChannel } from "../../../guest/channel.ts";
import type { CallScope } from "../../call_scope.ts";
import type { Host } from "../../../host/host.ts";
import { execThroughAgent } from "../agent/exec.ts";
import { closeHandles, openHandles } from "../agent/handles.ts";
import type { AgentLink } from "../agent/link.ts";
import { runScript, startScript } from "../agent/program.ts";
import type { Waker, Waking } from "./record.ts";
import { handlesOf, sleeperOf, tellWaker } from "./wake.ts";
import { wakerProgram } from "./waker.ts";

/** A guest with services answers its agent long before the last of them is up (Debian: 19 s and 27 s). */
const CALM_LIMIT_MS = 180_000;
const LOOK_AGAIN_MS = 1_000;
/** The pages that starting a program touches are in RAM after a few (measured: three). */
const TRIAL_RUNS = 3;
/** What the last programs leave to the kernel to tidy up. */
const REST_MS = 200;
/** Folders of which one takes programs, best first: they are in memory and gone with the guest. */
const FOLDERS = ["/run", "/dev/shm", "/tmp"] as const;

/** Prints the state of the guest's services, or nothing where no systemd runs them. */
const LOOK_AT_SERVICES = `
command -v systemctl >/dev/null 2>&1 && systemctl is-system-running 2>/dev/null
exit 0
`;

/** Becomes the waker, which hears and answers the agent. Argument: the path of its program. */
const START_WAKER = `
mkfifo -m 600 -- "$1.i" "$1.o" "$1.e" || exit 1
exec "$1" <"$1.i" 3<>"$1.i" >"$1.o" 2>"$1.e"
`;

/** Waits until the waker runs, takes the names of its files away, and prints PATH. Arguments: its path, its process. */
const HIDE_WAKER = `
hv_tries=0
until [ "$(readlink "/proc/$2/exe")" = "$1" ]; do
  hv_tries=$((hv_tries + 1))
  [ "$hv_tries" -lt 100 ] || break
  sleep 0.05
done
rm -f -- "$1" "$1.i" "$1.o" "$1.e"
printf %s "$PATH"
[ "$hv_tries" -lt 100 ]
`;

/** Takes away what a waker that does not run leaves. Argument: its path. */
const DROP_WAKER = `rm -f -- "$1" "$1.i" "$1.o" "$1.e"`;

const SILENT = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };

/** A guest and the ways into it. */
export interface SettlingGuest {
  host: Host;
  channel: GuestChannel;
  link: AgentLink;
}

/** Waits until a booted guest is calm, uses it a little, and leaves somebody in it who will wake its clones. */
export async function settleGuest(
  guest: SettlingGuest,
  { signal, progress, warn }: CallScope,
): Promise<Waking> {
  const { host: { clock }, link, channel } = guest;
  await channel.ping(signal);
  progress({ message: "Waiting until the guest is calm" });
  if (!await isCalm(guest, signal)) {
    warn?.(`The guest was still busy starting services after ${CALM_LIMIT_MS / 1000} s and was frozen so`);
  }
  progress({ message: "Warming the guest up" });
  for (let run = 0; run < TRIAL_RUNS; run++) {
    await channel.exec({ argv: ["sh", "-c", "true"] }, SILENT, signal);
  }
  const waking = await installWaker(guest, signal);
  await runScript(link, clock, "sync", [], signal);
  await clock.sleep(REST_MS, signal);
  // The agent hears us on the clone's connection only when it was listening to one as it was frozen.
  await channel.ping(signal);
  return waking;
}

async function isCalm({ host: { clock }, link }: SettlingGuest, signal: AbortSignal): Promise<boolean> {
  const end = clock.monotonic() + CALM_LIMIT_MS;
  for (;;) {
    const { stdout } = await runScript(link, clock, LOOK_AT_SERVICES, [], signal);
    if (stdout !== "starting" && stdout !== "initializing") return true;
    if (clock.monotonic() >= end) return false;
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

/** Tries wakers before one is left in the guest; where they cannot run, the guest's shell does their work. */
async function installWaker(guest: SettlingGuest, signal: AbortSignal): Promise<Waking> {
  const { host: { clock }, link } = guest;
  for (const folder of FOLDERS) {
    const first = await startWaker(guest, folder, signal);
    if (first === undefined) continue;
    if (!await tellWaker(link, clock, first, signal)) break;
    const second = await startWaker(guest, folder, signal);
    if (second === undefined) break;
    if (!await canBecome(guest, second, signal)) break;
    const last = await startWaker(guest, folder, signal);
    if (last !== undefined) return last;
  }
  return { kind: "shell" };
}

/** Whether a waker becomes the program that it is told. */
async function canBecome(
  { host: { clock }, link }: SettlingGuest,
  waker: Waker,
  signal: AbortSignal,
): Promise<boolean> {
  link.lull(sleeperOf(link, clock, waker));
  const { exit_code } = await execThroughAgent(link, clock, { argv: ["true"] }, SILENT, signal);
  await closeHandles(link, clock, handlesOf(waker));
  return exit_code === 0;
}

/** `undefined` when the folder takes no programs or the guest does not run this one. */
async function startWaker(
  { host: { clock }, channel, link }: SettlingGuest,
  folder: string,
  signal: AbortSignal,
): Promise<Waker | undefined> {
  const path = `${folder}/.hvlab-waker-${crypto.randomUUID()}`;
  const parts = [wakerProgram()];
  const feed = (): Promise<Uint8Array | null> => Promise.resolve(parts.pop() ?? null);
  try {
    await channel.writeFile(path, feed, { overwrite: false, mode: 0o700 }, signal);
  } catch (error) {
    if (error instanceof HvError && (error.code === "hv.io" || error.code === "hv.not_found")) {
      return undefined;
    }
    throw error;
  }
  const pid = await startScript(link, START_WAKER, [path], signal);
  const handles = await openStreams(link, clock, path, signal);
  if (handles === undefined) {
    await runScript(link, clock, DROP_WAKER, [path], signal);
    return undefined;
  }
  const { exit, stdout: search } = await runScript(link, clock, HIDE_WAKER, [path, String(pid)], signal);
  const waker: Waker = { kind: "waker", pid, search, ...handles };
  if (exit.exit_code === 0) return waker;
  await closeHandles(link, clock, handlesOf(waker));
  return undefined;
}

const OPEN_TRIES = 200;
const OPEN_AGAIN_MS = 10;

/** Opens the FIFOs as soon as they are there. "r+" waits for nobody, and then "r" does not either. */
async function openStreams(
  link: AgentLink,
  clock: Host["clock"],
  path: string,
  signal: AbortSignal,
): Promise<Pick<Waker, "input" | "reply" | "stdout" | "stderr"> | undefined> {
  const open = async (ending: string): Promise<{ writer: number; reader: number } | undefined> => {
    const handles: number[] = [];
    await openHandles(link, handles, ["r+", "r"].map((mode) => ({ path: `${path}.${ending}`, mode })));
    const [writer, reader] = handles;
    if (writer !== undefined && reader !== undefined) return { writer, reader };
    await closeHandles(link, clock, handles);
    return undefined;
  };
  for (let tries = 0; tries < OPEN_TRIES; tries++) {
    const stderr = await open("e");
    const stdout = stderr && await open("o");
    const input = stdout && await open("i");
    if (stderr && stdout && input) return { stdout, stderr, input: input.writer, reply: input.reader };
    for (const stream of [stdout, stderr]) {
      if (stream) await closeHandles(link, clock, [stream.writer, stream.reader]);
    }
    await clock.sleep(OPEN_AGAIN_MS, signal);
  }
  return undefined;
}
