/** Guests that stop when their kernel fails, and the failure that this is for their callers. */

import { HvError } from "../base/errors.ts";
import type { GuestChannel } from "../guest/channel.ts";

/** An oops alone kills a task and leaves the machine alive: then nobody would hear of it. */
const PANIC_ON_OOPS = ["sh", "-c", "echo 1 > /proc/sys/kernel/panic_on_oops"];

/** Makes a Linux guest stop at its first oops. Gives a sentence about what went wrong, if anything did. */
export async function letGuestTell(channel: GuestChannel, signal: AbortSignal): Promise<string | undefined> {
  if (channel.family !== "posix") return undefined;
  const ignore = () => Promise.resolve();
  const { exit_code } = await channel.exec(
    { argv: PANIC_ON_OOPS },
    { stdout: ignore, stderr: ignore },
    signal,
  );
  return exit_code === 0
    ? undefined
    : "The guest does not let itself be told to panic at an oops: one that it survives goes unseen";
}

/** Whether a failure is the crash of a guest. */
export function isCrash(error: unknown): error is HvError {
  return error instanceof HvError && error.code === "hv.guest_crashed";
}
