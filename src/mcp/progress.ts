/** Progress for a host that asked for it: always rising, a few times a second at most, and never silent for long. */

import type { Clock } from "../base/clock.ts";
import type { Progress } from "../contract/operation.ts";
import type { IncomingCall } from "./sdk.ts";

const SHORTEST_GAP_MS = 300;
const FIRST_WORD_MS = 1_000;
const LONGEST_SILENCE_MS = 4_000;

/**
 * Passes progress on, says something after a second, and repeats the last word every few seconds so that idle limits do not end the call. Silent
 * once the call is answered or `signal` aborts: nothing may follow an answer or a cancellation.
 */
export class ProgressReporter implements Disposable {
  readonly #notify: NonNullable<IncomingCall["notify"]>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #answered = new AbortController();
  #steps = 0;
  #message = "working";
  #lastSent = -Infinity;
  #waiting = false;

  constructor(notify: NonNullable<IncomingCall["notify"]>, clock: Clock, signal: AbortSignal) {
    this.#notify = notify;
    this.#clock = clock;
    this.#signal = AbortSignal.any([signal, this.#answered.signal]);
    this.#keepAlive().catch(() => {});
  }

  /** Tells the next step: at once, or when the last one was told long enough ago. */
  report({ message }: Progress): void {
    this.#message = message;
    if (this.#waiting) return;
    const gap = SHORTEST_GAP_MS - (this.#clock.monotonic() - this.#lastSent);
    if (gap <= 0) return this.#send();
    this.#waiting = true;
    this.#clock.sleep(gap, this.#signal).then(() => {
      this.#waiting = false;
      this.#send();
    }, () => {});
  }

  [Symbol.dispose](): void {
    this.#answered.abort();
  }

  async #keepAlive(): Promise<void> {
    await this.#clock.sleep(FIRST_WORD_MS, this.#signal);
    for (;;) {
      this.#send();
      await this.#clock.sleep(LONGEST_SILENCE_MS, this.#signal);
    }
  }

  /** A count of steps, since the share done is rarely known and the protocol wants rising numbers. */
  #send(): void {
    if (this.#signal.aborted) return;
    this.#lastSent = this.#clock.monotonic();
    this.#steps += 1;
    this.#notify({ progress: this.#steps, message: this.#message }).catch(() => {});
  }
}
