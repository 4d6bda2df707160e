/** Waiting for something no longer than a limit. */

import type { Clock } from "../../base/clock.ts";

/** Whether the work settles within the limit, well or badly. Rejects with the signal's reason when that aborts first. */
export async function settlesWithin(
  clock: Clock,
  work: Promise<unknown>,
  limitMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  signal?.throwIfAborted();
  const timer = new AbortController();
  const onAbort = (): void => timer.abort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const settled = work.then(() => true, () => true);
  const late = clock.sleep(limitMs, timer.signal).then(() => false, () => false);
  try {
    const answer = await Promise.race([settled, late]);
    signal?.throwIfAborted();
    return answer;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    timer.abort();
    await late;
  }
}
