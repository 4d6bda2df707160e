/** Time as an argument: `base` and the parsers never read a clock of their own. */

/** A source of time and of waiting. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970. */
  now(): number;
  /** A clock that only moves forward, in milliseconds. */
  monotonic(): number;
  /** Waits; rejects with the signal's reason as soon as it aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
