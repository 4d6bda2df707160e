/** Ctrl-C and its kin: the first asks the work to end, the second ends at once. */

import type { Clock } from "../base/clock.ts";
import { HvError } from "../base/errors.ts";
import type { Terminal } from "../host/terminal.ts";

export interface Interrupts extends Disposable {
  /** Aborts with `hv.cancelled` at the first interrupt. */
  readonly signal: AbortSignal;
  /** Resolves at the second one. */
  readonly again: Promise<void>;
  /** Ends the work for another reason. */
  cancel(reason: HvError): void;
}

/**
 * Listens until disposed. `afterMs` leaves the first moments of a call that changes nothing to the system's own way
 * of ending a program: binding the signals takes a millisecond, a tenth of what `dump inspect` may take.
 */
export function watchInterrupts(
  { terminal, clock }: { terminal: Terminal; clock: Clock },
  { afterMs = 0 }: { afterMs?: number } = {},
): Interrupts {
  const controller = new AbortController();
  const { promise: again, resolve } = Promise.withResolvers<void>();
  let stop: (() => void) | undefined;
  const listen = (): void => {
    stop = terminal.onInterrupt((signal) => {
      if (controller.signal.aborted) resolve();
      controller.abort(
        new HvError("hv.cancelled", `The call was cancelled by ${signal}`, { context: { signal } }),
      );
    });
  };
  const ended = new AbortController();
  if (afterMs === 0) listen();
  else clock.sleep(afterMs, ended.signal).then(listen, () => {});
  return {
    signal: controller.signal,
    again,
    cancel: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => {
      ended.abort();
      stop?.();
    },
  };
}
