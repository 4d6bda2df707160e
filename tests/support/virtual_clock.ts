/** A clock for code that waits: time jumps to the next sleeper whenever nothing else is left to do. */

import type { Clock } from "../../src/base/clock.ts";

interface Sleeper {
  at: number;
  wake(): void;
}

/**
 * Sleeping takes no real time, and still the shorter sleep ends first: answers that scripted sockets and programs
 * give come before any limit runs out.
 */
export class VirtualClock implements Clock {
  /** Milliseconds since the test began. */
  passed = 0;
  readonly #start = Date.parse("2026-11-29T12:00:00Z");
  readonly #sleepers = new Set<Sleeper>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  now(): number {
    return this.#start + this.passed;
  }

  monotonic(): number {
    return 1000 + this.passed;
  }

  advance(milliseconds: number): void {
    this.passed += milliseconds;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", onAbort);
        this.#plan();
      };
      const onAbort = (): void => {
        end();
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        at: this.passed + milliseconds,
        wake: () => {
          end();
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#sleepers.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const next = [...this.#sleepers].reduce((first, each) => (each.at < first.at ? each : first));
      this.passed = Math.max(this.passed, next.at);
      next.wake();
    }, 0);
  }
}
