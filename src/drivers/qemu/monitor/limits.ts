/**
 * How long commands of one conversation may go unanswered. All share one timer, since a timer for each would take longer
 * than the round trip itself.
 */

import type { Clock } from "../../../base/clock.ts";

interface Limit {
  /** On the monotonic clock. */
  end: number;
  late(): void;
}

export class CommandLimits {
  readonly #clock: Clock;
  readonly #limits = new Set<Limit>();
  #timer: { end: number; stop: AbortController } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `late` once the time is over, unless the function that it answers is called before. */
  begin(milliseconds: number, late: () => void): () => void {
    const limit = { end: this.#clock.monotonic() + milliseconds, late };
    this.#limits.add(limit);
    if (this.#timer === undefined || limit.end < this.#timer.end) this.#wait(limit.end);
    return () => this.#limits.delete(limit);
  }

  /** Calls nobody any more. */
  close(): void {
    this.#limits.clear();
    this.#timer?.stop.abort();
    this.#timer = undefined;
  }

  #wait(end: number): void {
    this.#timer?.stop.abort();
    const stop = new AbortController();
    this.#timer = { end, stop };
    const left = Math.max(0, end - this.#clock.monotonic());
    this.#clock.sleep(left, stop.signal).then(() => this.#look(), () => {});
  }

  /** A command that was answered has taken its limit away; what began later is waited for next. */
  #look(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (const limit of this.#limits) {
      if (limit.end > now) continue;
      this.#limits.delete(limit);
      limit.late();
    }
    const ends = [...this.#limits].map(({ end }) => end);
    if (ends.length > 0) this.#wait(Math.min(...ends));
  }
}
