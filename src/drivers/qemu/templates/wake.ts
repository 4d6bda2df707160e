/** What a clone is told first: the time, and randomness that no other clone has. */

import { HvError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import { refused } from "../agent_errors.ts";
import type { AgentLink } from "../agent_link.ts";
import { Pace, readStatus, runScript, statusCommand } from "../agent_program.ts";
import type { Waking } from "./record.ts";
import { SEED_BYTES, wakeMessage } from "./waker.ts";

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
  if (waking.kind === "waker" && await tellWaker(link, clock, waking, signal)) return;
  const seconds = Math.round(clock.now() / 1000);
  const { exit, stderr } = await runScript(link, clock, WAKE_BY_SHELL, [String(seconds), seedText()], signal);
  if (exit.exit_code === 0) return;
  throw new HvError("hv.job_failed", "The clone's clock could not be set", {
    hint: "Make its template anew: hvlab image warm IMAGE",
    context: { exit_code: exit.exit_code, signal: exit.signal, guest_stderr: stderr },
  });
}

/** Answers whether the waiting program has done it. */
export async function tellWaker(
  link: AgentLink,
  clock: Clock,
  { pid, handle }: { pid: number; handle: number },
  signal: AbortSignal,
): Promise<boolean> {
  const message = wakeMessage(clock.now(), crypto.getRandomValues(new Uint8Array(SEED_BYTES)));
  const [written, flushed, , first] = await link.ask([
    { name: "guest-file-write", arguments: { handle, "buf-b64": message.toBase64() } },
    { name: "guest-file-flush", arguments: { handle } },
    { name: "guest-file-close", arguments: { handle } },
    statusCommand(pid),
  ], { signal, changes: true });
  if (!written.ok) throw refused("guest-file-write", written);
  if (!flushed.ok) throw refused("guest-file-flush", flushed);
  const pace = new Pace(clock);
  let { exit } = readStatus(pid, first);
  while (exit === undefined) {
    await pace.wait(signal);
    const [answer] = await link.ask([statusCommand(pid)], { signal, changes: true });
    exit = readStatus(pid, answer).exit;
  }
  return exit.exit_code === 0;
}

function seedText(): string {
  return crypto.getRandomValues(new Uint8Array(SEED_BYTES)).toHex();
}
