/** Sleeping until something happens. */

import type { Clock } from "../base/clock.ts";

/** Rung by whoever has seen a change; a ring that nobody waits for yet is kept. */
export class Alarm {
  #isRung = false;
  #awake = new AbortController();

  ring(): void {
    this.#isRung = true;
    this.#awake.abort();
  }

  /** Waits for a ring, no longer than the limit, and answers whether one came. Rejects as the signal aborts. */
  async wait(clock: Clock, limitMs: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#isRung) {
      await clock.sleep(limitMs, AbortSignal.any([signal, this.#awake.signal])).catch(() => {});
    }
    signal.throwIfAborted();
    const wasRung = this.#isRung;
    this.#isRung = false;
    this.#awake = new AbortController();
    return wasRung;
  }
}
