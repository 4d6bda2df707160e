/** Waiting for what a guest shows: a text on its serial line, or a screen that has come to rest. */

import type { Clock } from "../../base/clock.ts";
import { type ErrorCode, HvError } from "../../base/errors.ts";
import type { Picture } from "../../base/png.ts";
import type { Vm } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import { withLastWords } from "../../drivers/last_words.ts";
import { wayAfterCrash, wayToRun } from "../../drivers/way_on.ts";
import { abilityOf } from "../abilities.ts";
import type { Found, SerialSearch } from "./serial_text.ts";
import { showsTheSame } from "./settled_screen.ts";

interface WaitOptions {
  signal: AbortSignal;
  clock: Clock;
}

const LOOK_AT_LOG_MS = 50;
/** How often the machine itself is looked at meanwhile. */
const LOOKS_APART = 10;
const LOOK_AT_SCREEN_MS = 250;
const LAST_WORDS_LIMIT_MS = 2_000;
/** Failures that the end of the log explains. */
const TELLING: ReadonlySet<ErrorCode> = new Set(["hv.timeout", "hv.conflict", "hv.guest_crashed"]);

/**
 * Waits for a text in the log. A VM whose machine has ended or stands still writes no more: `hv.conflict`, or
 * `hv.guest_crashed`. A passed limit is `hv.timeout` with what the log holds last.
 */
export async function waitForSerial(
  driver: Driver,
  vm: Vm,
  search: SerialSearch,
  wanted: string,
  { signal, clock }: WaitOptions,
): Promise<Found> {
  const serial = abilityOf(driver, "serial");
  const began = clock.monotonic();
  const look = async (): Promise<Found | undefined> => {
    using log = await serial.log(vm.id);
    return log === undefined ? undefined : await search.look(log, signal);
  };
  try {
    for (let looks = 0;; looks++) {
      signal.throwIfAborted();
      // The machine is looked at first: what it wrote before its end is in the log by then.
      const over = looks % LOOKS_APART === 0
        ? whyOver(await driver.vms.get(vm.id, signal), wanted)
        : undefined;
      const found = await look();
      if (found !== undefined) return found;
      if (over !== undefined) throw over;
      await clock.sleep(LOOK_AT_LOG_MS, signal);
    }
  } catch (error) {
    if (!(error instanceof HvError) || !TELLING.has(error.code)) throw error;
    const late = error.code === "hv.timeout"
      ? notWritten(vm, wanted, search, clock.monotonic() - began, error)
      : error;
    throw withLastWords(late, await readLastWords(driver, vm.id), late.hint ?? "Wait longer with --timeout");
  }
}

function notWritten(
  { id, name }: Vm,
  wanted: string,
  { isLooking }: SerialSearch,
  waitedMs: number,
  cause: HvError,
): HvError {
  const waited = seconds(waitedMs);
  return new HvError(
    "hv.timeout",
    isLooking
      ? `Looking for "${wanted}" in what "${name}" has written to its serial line was not done within ${waited} s`
      : `"${name}" has not written "${wanted}" to its serial line, waited ${waited} s`,
    { context: { ...cause.context, vm: id, wanted, waited_s: waited }, cause },
  );
}

async function readLastWords(driver: Driver, id: string): Promise<string | undefined> {
  try {
    return await driver.lastWords?.(id, AbortSignal.timeout(LAST_WORDS_LIMIT_MS));
  } catch {
    return undefined;
  }
}

function whyOver(vm: Vm, wanted: string): HvError | undefined {
  const { id, name, state } = vm;
  const context = { vm: id, wanted, found: state };
  if (state === "crashed") {
    return new HvError("hv.guest_crashed", `The guest of "${name}" has crashed before it wrote "${wanted}"`, {
      hint: wayAfterCrash(vm),
      context,
    });
  }
  if (state !== "off" && state !== "saved" && state !== "paused") return undefined;
  return new HvError("hv.conflict", `The VM "${name}" is ${state} and has not written "${wanted}"`, {
    hint: wayToRun(vm) ?? `Look at it with \`hvlab vm get ${id}\``,
    context,
  });
}

/**
 * Waits until the screen has shown the same for so long, but for a cursor that blinks. A passed limit is `hv.timeout`
 * that says for how long it was at rest last.
 */
export async function waitUntilSettled(
  driver: Driver,
  vm: Vm,
  restMs: number,
  { signal, clock }: WaitOptions,
): Promise<void> {
  const { screen } = abilityOf(driver, "console");
  const began = clock.monotonic();
  let since = began;
  let changes = 0;
  try {
    let last: Picture = await unlessAborted(screen(vm.id, signal), signal);
    for (;;) {
      const rest = clock.monotonic() - since;
      if (rest >= restMs) return;
      await clock.sleep(Math.min(LOOK_AT_SCREEN_MS, restMs - rest), signal);
      const now = await unlessAborted(screen(vm.id, signal), signal);
      if (showsTheSame(last, now)) continue;
      changes++;
      last = now;
      since = clock.monotonic();
    }
  } catch (error) {
    if (!(error instanceof HvError) || error.code !== "hv.timeout") throw error;
    const waited = seconds(clock.monotonic() - began);
    throw new HvError(
      "hv.timeout",
      `The screen of "${vm.name}" has not settled for ${
        seconds(restMs)
      } s: it changed ${changes} times in ${waited} s`,
      {
        hint: "Wait longer with --timeout, or for a text with --serial",
        context: { ...error.context, vm: vm.id, wanted_s: seconds(restMs), changes, waited_s: waited },
        cause: error,
      },
    );
  }
}

/** A provider may take longer to give a question up than the asker has time; its answer is then nobody's. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  work.catch(() => {});
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
