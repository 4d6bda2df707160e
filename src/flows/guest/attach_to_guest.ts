/** A person's terminal in a guest. */

import { HvError } from "../../base/errors.ts";
import type { ExecResult } from "../../contract/guest.ts";
import type { TerminalCommand } from "../../guest/channel.ts";
import { type AccessWish, type GuestScope, useGuest } from "./use_guest.ts";

/** What the terminal is opened with. */
export interface TerminalScope extends GuestScope {
  signal: AbortSignal;
  door: string;
}

/**
 * Makes our terminal one of the guest until its program ends. Takes the best channel that has terminals. Throws
 * `hv.usage` where we have no terminal, and `hv.unsupported` when no channel has.
 */
export async function attachToGuest(
  scope: TerminalScope,
  wish: AccessWish,
  command: TerminalCommand | undefined,
): Promise<ExecResult> {
  const { host: { terminal, clock }, driver, vm, door, signal } = scope;
  if (door !== "cli" || !terminal.stdinIsTerminal || !terminal.stdout.isTerminal) {
    throw new HvError("hv.usage", "A terminal in a guest needs a terminal here", {
      hint: "Run it at a terminal, or use `guest exec` without --tty",
      context: { door },
    });
  }
  const able = driver.channels(vm).find(({ attach }) => attach !== undefined)?.name;
  if (wish.channel === undefined && able === undefined) throw noTerminal(vm.name);
  const started = clock.monotonic();
  return await useGuest(scope, { ...wish, channel: wish.channel ?? able }, async (channel) => {
    if (channel.attach === undefined) throw noTerminal(vm.name, channel.name);
    const { exit_code, signal: ended } = await channel.attach(command, signal);
    return {
      exit_code,
      ...(ended === null ? {} : { signal: ended }),
      stdout: "",
      stderr: "",
      stdout_bytes: 0,
      stderr_bytes: 0,
      duration_ms: Math.round(clock.monotonic() - started),
      channel: channel.name,
    };
  });
}

function noTerminal(vm: string, channel?: string): HvError {
  return new HvError(
    "hv.unsupported",
    channel === undefined
      ? `No channel into the guest of "${vm}" has terminals`
      : `The channel "${channel}" has no terminals`,
    {
      hint: "SSH has them: give the VM a network and its guest an SSH server",
      context: { ...(channel === undefined ? {} : { channel }) },
    },
  );
}
