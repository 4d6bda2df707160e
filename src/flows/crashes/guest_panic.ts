/** Guests that stop when their kernel fails, guests that hang, and the failure that this is for their callers. */

import { HvError } from "../../base/errors.ts";
import type { PanicCause } from "../../contract/crash_policy.ts";
import type { Vm } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import type { Host } from "../../host/host.ts";
import { openChannel } from "../guest/open_channel.ts";

/** Where a running kernel is told (its admin-guide/sysctl/kernel and vm). */
const SWITCHES: Readonly<Record<PanicCause, string>> = {
  oops: "kernel/panic_on_oops",
  warn: "kernel/panic_on_warn",
  soft_lockup: "kernel/softlockup_panic",
  hung_task: "kernel/hung_task_panic",
  rcu_stall: "kernel/panic_on_rcu_stall",
  oom: "vm/panic_on_oom",
};
/** Switches on, reads back, and prints the names of those that are off all the same. */
const SWITCH_ON = 'for name; do { echo 1 > "/proc/sys/$name"; } 2>/dev/null; value=; ' +
  '{ read -r value < "/proc/sys/$name"; } 2>/dev/null; case $value in "" | 0) echo "$name" ;; esac; done';

/** A guest that lives answers within moments. */
const SILENCE_MS = 3_000;
/** From the interrupt to the panic it takes a guest moments, under emulation seconds. */
const PANIC_LIMIT_MS = 10_000;
const LOOK_MS = 100;

/**
 * Makes a Linux guest stop at what it would survive or only report: an oops alone kills a task and leaves the machine
 * alive, so that nobody would hear of it. What holds is read back. Gives a sentence about what went wrong, if anything did.
 */
export async function letGuestTell(
  channel: GuestChannel,
  causes: readonly PanicCause[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (channel.family !== "posix" || causes.length === 0) return undefined;
  const refused: Uint8Array[] = [];
  const names = causes.map((cause) => SWITCHES[cause]);
  const { exit_code } = await channel.exec(
    { argv: ["sh", "-c", SWITCH_ON, "sh", ...names] },
    {
      stdout: (bytes) => Promise.resolve(void refused.push(bytes)),
      stderr: () => Promise.resolve(),
    },
    signal,
  );
  const text = await new Blob(refused.map((bytes) => new Uint8Array(bytes))).text();
  const left = exit_code === 0 ? text.split("\n").filter((name) => name !== "") : names;
  if (left.length === 0) return undefined;
  return `The guest does not let itself be told to panic by ${left.join(", ")}: what it survives goes unseen`;
}

/** The same for a VM's guest, through the first way into it that needs no login and that the policy allows. */
export async function tellGuest(
  driver: Driver,
  id: string,
  causes: readonly PanicCause[],
  allowed: readonly string[] | null | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const vm = await driver.vms.get(id, signal);
  return await letGuestTell(openChannel(driver, vm, allowed), causes, signal);
}

/** Says that a guest which runs may survive, or only report, what its VM's policy wants to hear of. */
export function notToldYet(name: string, problem: string): string {
  return `The running guest of "${name}" has not confirmed what it panics at: ${problem}`;
}

/** Whether a failure is the crash of a guest. */
export function isCrash(error: unknown): error is HvError {
  return error instanceof HvError && error.code === "hv.guest_crashed";
}

/** Whether a failure is a guest's silence, which may hang: the time was over, or it does not answer any more. */
export function isSilence(error: unknown): error is HvError {
  return error instanceof HvError && (error.code === "hv.timeout" || error.code === "hv.outcome_unknown");
}

/**
 * Finds out whether a guest that was waited for in vain hangs, and interrupts one that does, so that its kernel panics and
 * leaves its memory. Answers whether the guest has crashed; one that answers is left alone.
 */
export async function wakeHungGuest(
  { host, driver }: { host: Host; driver: Driver },
  vm: Vm,
  signal: AbortSignal,
): Promise<boolean> {
  const { state } = await driver.vms.get(vm.id, signal);
  if (state !== "running" || driver.nmi === undefined) return state === "crashed";
  if (await answers(driver, vm, signal)) return false;
  await driver.nmi.inject(vm.id, { signal, progress: () => {} });
  const end = host.clock.monotonic() + PANIC_LIMIT_MS;
  while (host.clock.monotonic() < end) {
    if ((await driver.vms.get(vm.id, signal)).state === "crashed") return true;
    await host.clock.sleep(LOOK_MS, signal);
  }
  return false;
}

async function answers(driver: Driver, vm: Vm, signal: AbortSignal): Promise<boolean> {
  try {
    await openChannel(driver, vm).ping(AbortSignal.any([signal, AbortSignal.timeout(SILENCE_MS)]));
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
