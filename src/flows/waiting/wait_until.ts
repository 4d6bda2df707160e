/** Waiting until a VM has come as far as asked; each level is proved by a fresh look. */

import type { Clock } from "../../base/clock.ts";
import { HvError } from "../../base/errors.ts";
import type { Progress } from "../../contract/operation.ts";
import type { ReadinessLevel, Vm, VmState } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import { withLastWords } from "../../drivers/last_words.ts";
import { wayAfterCrash, wayToRun } from "../../drivers/way_on.ts";
import { abilityOf } from "../abilities.ts";
import { openChannel } from "../guest/open_channel.ts";

export interface WaitOptions {
  /** Ends the wait; its reason is what the wait rejects with. */
  signal: AbortSignal;
  clock: Clock;
  progress: (progress: Progress) => void;
  /** Logs in to the guest of a running VM; needed for the level `login`. */
  login?: (vm: Vm, signal: AbortSignal) => Promise<void>;
}

/** Between two looks at a VM: short beside any change of its state, long beside the look itself. */
const LOOK_MS = 100;

/** Between two looks while the guest's own answer is awaited: they only find out that it will not come. */
const LOOK_ASIDE_MS = 500;

/** States that a machine leaves without being asked. */
const PASSING: ReadonlySet<VmState> = new Set<VmState>([
  "starting",
  "resetting",
  "merging",
  "pausing",
  "unknown",
]);

/**
 * Waits for a level and gives the VM as it was seen then. A VM that cannot come there by itself fails at once:
 * `hv.conflict` with the states wanted and found, or `hv.guest_crashed`. On a passed limit the `hv.timeout` of
 * the signal says what was wanted, what was seen last, and how long the wait was.
 */
export async function waitUntil(
  driver: Driver,
  id: string,
  level: ReadinessLevel,
  { signal, clock, progress, login }: WaitOptions,
): Promise<Vm> {
  const started = clock.monotonic();
  let seen: Vm | undefined;
  const look = async (): Promise<Vm> => {
    const vm = await driver.vms.get(id, signal);
    if (vm.state !== seen?.state) progress({ message: `waiting for ${level}, the VM is ${vm.state}` });
    return seen = vm;
  };
  try {
    return await reach(driver, level, look, clock, signal, login);
  } catch (error) {
    if (!(error instanceof HvError)) throw error;
    if (error.code === "hv.guest_crashed") {
      throw withLastWords(
        error,
        await readLastWords(driver, id),
        error.hint ?? wayAfterCrash(seen ?? { id }),
      );
    }
    if (!signal.aborted || error.code !== "hv.timeout") throw error;
    const waited = Math.round((clock.monotonic() - started) / 100) / 10;
    const state = seen?.state ?? "unknown";
    const late = new HvError(
      "hv.timeout",
      `The VM has not reached "${level}": it is ${state}, waited ${waited} s`,
      {
        context: { ...error.context, vm: id, wanted: level, found: state, waited_s: waited },
        cause: error,
      },
    );
    throw withLastWords(late, await readLastWords(driver, id), "Wait longer with --timeout");
  }
}

const LAST_WORDS_LIMIT_MS = 2_000;

/** Has a limit of its own, since the wait is over; a look that fails is no failure. */
async function readLastWords(driver: Driver, id: string): Promise<string | undefined> {
  try {
    return await driver.lastWords?.(id, AbortSignal.timeout(LAST_WORDS_LIMIT_MS));
  } catch {
    return undefined;
  }
}

async function reach(
  driver: Driver,
  level: ReadinessLevel,
  look: () => Promise<Vm>,
  clock: Clock,
  signal: AbortSignal,
  login: WaitOptions["login"],
): Promise<Vm> {
  switch (level) {
    case "running":
      return await poll(
        look,
        clock,
        signal,
        ({ state }) => state === "running",
        (vm) => refuseEnd(vm, level),
      );
    case "off":
      return await poll(look, clock, signal, ({ state }) => state === "off" || state === "saved");
    case "crash":
      if (driver.crash === undefined) throw crashIsNotTold(driver);
      return await poll(look, clock, signal, ({ state }) => state === "crashed", (vm) => {
        if (vm.state === "off" || vm.state === "saved") throw conflict(vm, "a running guest");
      });
    case "heartbeat":
      return await awaitGuest(
        level,
        look,
        clock,
        signal,
        async (vm, both) => await (driver.heartbeat?.(vm.id, both) ?? openChannel(driver, vm).ping(both)),
      );
    case "address":
      return await awaitGuest(
        level,
        look,
        clock,
        signal,
        (vm, both) => awaitAddress(driver, vm, clock, both),
      );
    case "login": {
      if (login === undefined) throw new HvError("hv.internal", "Nobody was named who logs in");
      return await awaitGuest(level, look, clock, signal, login);
    }
  }
}

/** Looks until a network card of the guest has an address that others can reach. */
async function awaitAddress(driver: Driver, vm: Vm, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { nics } = await abilityOf(driver, "nics").list(vm.id, signal);
    if (nics.length === 0) {
      throw new HvError("hv.unsupported", `The VM "${vm.name}" has no network card, so it gets no address`, {
        hint: "Give it one with `hvlab nic add`, or wait for heartbeat or login",
        context: { vm: vm.id },
      });
    }
    if (nics.some(({ addresses }) => addresses.some(({ address }) => !OWN_ADDRESS.test(address)))) return;
    await clock.sleep(LOOK_ASIDE_MS, signal);
  }
}

/** Addresses that a guest gives itself without anybody's doing. */
const OWN_ADDRESS = /^(127\.|169\.254\.|::1$|fe80:)/i;

/** Looks until the VM is as wanted; `refuse` throws for a state from which it never will be. */
async function poll(
  look: () => Promise<Vm>,
  clock: Clock,
  signal: AbortSignal,
  isThere: (vm: Vm) => boolean,
  refuse: (vm: Vm) => void = () => {},
): Promise<Vm> {
  for (;;) {
    signal.throwIfAborted();
    const vm = await look();
    if (isThere(vm)) return vm;
    refuse(vm);
    await clock.sleep(LOOK_MS, signal);
  }
}

/** Asks the guest once the machine runs, in a question that waits for its answer; looks at the machine aside meanwhile. */
async function awaitGuest(
  level: ReadinessLevel,
  look: () => Promise<Vm>,
  clock: Clock,
  signal: AbortSignal,
  ask: (vm: Vm, signal: AbortSignal) => Promise<void>,
): Promise<Vm> {
  const refuse = (vm: Vm): void => refuseEnd(vm, level);
  const vm = await poll(look, clock, signal, ({ state }) => state === "running", refuse);
  const either = new AbortController();
  const both = AbortSignal.any([signal, either.signal]);
  const watch = async (): Promise<never> => {
    for (;;) {
      await clock.sleep(LOOK_ASIDE_MS, both);
      const now = await look();
      if (now.state !== "running") refuse(now);
    }
  };
  const watching = watch();
  const asked = ask(vm, both);
  try {
    await Promise.race([asked, watching]);
  } finally {
    either.abort();
    await Promise.allSettled([asked, watching]);
  }
  return await look();
}

function crashIsNotTold({ name }: Driver): HvError {
  return new HvError("hv.unsupported", `The driver "${name}" does not tell when a guest has crashed`, {
    hint: "Look at the screen with `hvlab console screenshot`, or wait for running, heartbeat or off",
    context: { wanted: "crash", driver: name },
  });
}

function refuseEnd(vm: Vm, level: ReadinessLevel): void {
  if (vm.state === "running" || PASSING.has(vm.state)) return;
  if (vm.state !== "crashed") throw conflict(vm, level);
  throw new HvError(
    "hv.guest_crashed",
    `The guest of "${vm.name}" has crashed while "${level}" was awaited`,
    {
      hint: wayAfterCrash(vm),
      context: {
        vm: vm.id,
        wanted: level,
        found: vm.state,
        ...(vm.state_reason === undefined ? {} : { reason: vm.state_reason }),
      },
    },
  );
}

function conflict(vm: Vm, wanted: string): HvError {
  return new HvError("hv.conflict", `The VM "${vm.name}" is ${vm.state}: wanted "${wanted}"`, {
    hint: wayToRun(vm) ?? `Look at it with \`hvlab vm get ${vm.id}\``,
    context: { vm: vm.id, wanted, found: vm.state },
  });
}
