/** Waiting with an early answer: the caller asks again instead of holding one call open. */

import type { Clock } from "../../base/clock.ts";

/** Runs `wait` for at most `seconds`. True when it ended by itself, false when the time ran out first. */
export async function waitAtMost(
  clock: Clock,
  seconds: number | undefined,
  signal: AbortSignal,
  wait: (signal: AbortSignal) => Promise<unknown>,
): Promise<boolean> {
  if (seconds === undefined) {
    await wait(signal);
    return true;
  }
  const limit = new AbortController();
  const timer = new AbortController();
  clock.sleep(seconds * 1000, timer.signal).then(() => limit.abort(new Error("early answer")), () => {});
  try {
    await wait(AbortSignal.any([signal, limit.signal]));
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (limit.signal.aborted) return false;
    throw error;
  } finally {
    timer.abort();
  }
}
