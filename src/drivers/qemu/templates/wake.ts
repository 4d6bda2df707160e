/** What a clone is told first: the time, and randomness that no other clone has. */

import { HvError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import { refused } from "../agent/errors.ts";
import { closeHandles } from "../agent/handles.ts";
import type { AgentLink, Sleeper } from "../agent/link.ts";
import { Pace, readStatus, runScript, statusCommand } from "../agent/program.ts";
import type { AgentCommand } from "../agent/protocol.ts";
import type { Waker, Waking } from "./record.ts";
import { NOTHING_STARTED, SEED_BYTES, wakeMessage } from "./waker.ts";

/**
 * Sets the clock and stirs the random generator through the guest's shell. Arguments: seconds since 1970, random
 * text. The generator takes the text in at its next own refresh.
 */
const WAKE_BY_SHELL = `
date -s "@$1" >/dev/null || exit 1
printf %s "$2" >/dev/urandom
`;

/**
 * Tells a clone the time and gives it fresh randomness, and returns when both are done: the guest's first command
 * comes after. Waits for a guest whose agent does not answer yet as long as the signal allows.
 */
export async function wakeGuest(
  link: AgentLink,
  clock: Clock,
  waking: Waking,
  signal: AbortSignal,
): Promise<void> {
  await link.connect(signal, Infinity);
  await wakeListener(link, clock, waking, signal);
}

/** Wakes a guest whose agent answers. */
async function wakeListener(
  link: AgentLink,
  clock: Clock,
  waking: Waking,
  signal: AbortSignal,
): Promise<void> {
  if (waking.kind === "waker" && await tellWaker(link, clock, waking, signal)) return;
  await wakeByShell(link, clock, signal);
}

async function wakeByShell(link: AgentLink, clock: Clock, signal: AbortSignal): Promise<void> {
  const seconds = Math.round(clock.now() / 1000);
  const { exit, stderr } = await runScript(link, clock, WAKE_BY_SHELL, [String(seconds), seedText()], signal);
  if (exit.exit_code === 0) return;
  throw new HvError("hv.job_failed", "The clone's clock could not be set", {
    hint: "Make its template anew: hvlab image warm IMAGE",
    context: { exit_code: exit.exit_code, signal: exit.signal, guest_stderr: stderr },
  });
}

/** Wakes the guest through the program that waits in it; answers whether that program has done it. */
export async function tellWaker(
  link: AgentLink,
  clock: Clock,
  waker: Waker,
  signal: AbortSignal,
): Promise<boolean> {
  const message = wakeMessage(clock.now(), newSeed());
  if (message === undefined) return false;
  const [written, flushed, first] = await link.ask(
    [...tell(waker, message), statusCommand(waker.pid)],
    { signal, changes: true },
  );
  if (!written.ok) throw refused("guest-file-write", written);
  if (!flushed.ok) throw refused("guest-file-flush", flushed);
  const pace = new Pace(clock);
  let { exit } = readStatus(waker.pid, first);
  while (exit === undefined) {
    await pace.wait(signal);
    const [answer] = await link.ask([statusCommand(waker.pid)], { signal, changes: true });
    exit = readStatus(waker.pid, answer).exit;
  }
  await closeHandles(link, clock, handlesOf(waker));
  return exit.exit_code === 0;
}

/** Everything that the agent holds open for a waker. */
export function handlesOf({ input, reply, stdout, stderr }: Waker): number[] {
  return [stdout.writer, stdout.reader, stderr.writer, stderr.reader, input, reply];
}

/** The requests that hand a message over. */
function tell(
  { input: handle }: Waker,
  message: Uint8Array<ArrayBuffer>,
): [write: AgentCommand, flush: AgentCommand] {
  return [
    { name: "guest-file-write", arguments: { handle, "buf-b64": message.toBase64() } },
    { name: "guest-file-flush", arguments: { handle } },
  ];
}

/**
 * A clone's guest that sleeps on until it is used: its first program is told to the waker together with the time, so
 * that nothing need be started beside it. What the agent holds open for the waker stays open: closing it would take as
 * long as a short program, and such a clone ends with its one run.
 */
export function sleeperOf(link: AgentLink, clock: Clock, waker: Waker): Sleeper {
  const wake = async (signal: AbortSignal): Promise<void> => {
    // Its agent has answered before it fell asleep: one that is silent now may be that of a machine that has ended.
    await link.connect(signal);
    await wakeListener(link, clock, waker, signal);
  };
  return {
    wake,
    async wakeWith({ argv, cwd, env = {} }, signal) {
      const isOrdinary = cwd === undefined && Object.keys(env).length === 0;
      const run = { paths: candidates(argv[0] ?? "", waker.search), argv };
      const message = isOrdinary ? wakeMessage(clock.now(), newSeed(), run) : undefined;
      if (message === undefined) {
        await wake(signal);
        return undefined;
      }
      const [written, flushed] = await link.ask(tell(waker, message), { signal, changes: true });
      if (!written.ok) throw refused("guest-file-write", written);
      if (!flushed.ok) throw refused("guest-file-flush", flushed);
      const { pid, stdout, stderr } = waker;
      return {
        pid,
        stdout,
        stderr,
        async wasStarted({ exit_code }, asking) {
          if (exit_code !== NOTHING_STARTED) return true;
          const read = { name: "guest-file-read", arguments: { handle: waker.reply, count: 1 } };
          const [reply] = await link.ask([read], { signal: asking, changes: true });
          return !reply.ok;
        },
        wakeOtherwise: (asking) => wakeByShell(link, clock, asking),
      };
    },
  };
}

/** The paths under which a shell would look for a program. */
function candidates(program: string, search: string): string[] {
  if (program.includes("/")) return [program];
  return search.split(":").map((folder) => `${folder === "" ? "." : folder}/${program}`);
}

function newSeed(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SEED_BYTES));
}

function seedText(): string {
  return crypto.getRandomValues(new Uint8Array(SEED_BYTES)).toHex();
}
