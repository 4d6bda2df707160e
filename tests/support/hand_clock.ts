/** A clock that moves only when a test moves it. */

import type { Clock } from "../../src/base/clock.ts";

export class HandClock implements Clock {
  wall = Date.parse("2026-11-29T12:00:00Z");
  steady = 1000;

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.steady;
  }

  /** Sleeping takes no real time: it moves both hands. */
  sleep(milliseconds: number): Promise<void> {
    this.advance(milliseconds);
    return Promise.resolve();
  }

  advance(milliseconds: number): void {
    this.wall += milliseconds;
    this.steady += milliseconds;
  }
}
