/**
 * The real host with a clock of another speed: faster for tests of limits that are seconds long, slower where such a limit
 * must not pass.
 */

import type { Clock } from "../../src/base/clock.ts";
import { systemClock } from "../../src/host/clock.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import type { Host } from "../../src/host/host.ts";

/** A clock on which `factor` seconds pass in one. */
export function hurriedClock(factor: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() * factor,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / factor, signal),
  };
}

export function openHurriedHost(factor = 20): Host {
  return { ...openDenoHost(), clock: hurriedClock(factor) };
}
