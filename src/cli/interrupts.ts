/** Ctrl-C and its kin: the first asks the work to end, the second ends at once. */

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

/** Listens until disposed; without a terminal, signals keep their usual effect. */
export function watchInterrupts(terminal: Terminal | undefined): Interrupts {
  const controller = new AbortController();
  const { promise: again, resolve } = Promise.withResolvers<void>();
  const stop = terminal?.onInterrupt((signal) => {
    if (controller.signal.aborted) resolve();
    controller.abort(
      new HvError("hv.cancelled", `The call was cancelled by ${signal}`, { context: { signal } }),
    );
  });
  return {
    signal: controller.signal,
    again,
    cancel: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => stop?.(),
  };
}
