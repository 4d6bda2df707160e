/** Limits in time that pass down through every call. */

import type { Clock } from "./clock.ts";
import { HvError } from "./errors.ts";

/**
 * What every step of a call carries: the signal that ends it and the time that is left. The signal's reason is
 * an {@link HvError}: `hv.timeout` or `hv.cancelled`.
 */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Milliseconds left; `Infinity` without a limit. */
  left(): number;
  /** Ends it now, for the given reason. */
  end(reason: HvError): void;
}

/** Starts a limit. `timeoutMs` counts from now; `outer` ends it earlier. */
export function startDeadline(clock: Clock, timeoutMs: number | undefined, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  const started = clock.monotonic();
  const onOuter = (): void => controller.abort(cancellationOf(outer?.reason));
  if (outer?.aborted) onOuter();
  outer?.addEventListener("abort", onOuter, { once: true });
  const timer = timeoutMs === undefined ? undefined : new AbortController();
  if (timeoutMs !== undefined) {
    clock.sleep(timeoutMs, timer?.signal).then(
      () => controller.abort(timeoutError(timeoutMs)),
      () => {},
    );
  }
  return {
    signal: controller.signal,
    left: () => timeoutMs === undefined ? Infinity : Math.max(0, timeoutMs - (clock.monotonic() - started)),
    end: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => {
      timer?.abort();
      outer?.removeEventListener("abort", onOuter);
    },
  };
}

/** The failure of a passed limit. */
export function timeoutError(timeoutMs: number): HvError {
  return new HvError("hv.timeout", `The time limit of ${timeoutMs / 1000} s has passed`, {
    hint: "Give a longer --timeout, or look at the state before trying again",
    context: { timeout_ms: timeoutMs },
  });
}

function cancellationOf(reason: unknown): HvError {
  if (reason instanceof HvError) return reason;
  return new HvError("hv.cancelled", "The call was cancelled", { cause: reason });
}
