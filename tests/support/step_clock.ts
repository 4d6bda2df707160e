/** A clock that a test moves by hand and whose sleepers wake when their time has come. */

import type { Clock } from "../../src/base/clock.ts";

export class StepClock implements Clock {
  #now = 0;
  #sleepers: { at: number; wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      this.#sleepers.push({ at: this.#now + milliseconds, wake: resolve });
    });
  }

  /** Moves the hands and lets the woken ones do their next step. */
  async advance(milliseconds: number): Promise<void> {
    this.#now += milliseconds;
    const due = this.#sleepers.filter(({ at }) => at <= this.#now);
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now);
    for (const { wake } of due) wake();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
}
