/** Requests that were read and have no answer yet. */

import type { Clock } from "../base/clock.ts";
import type { RequestId } from "./sdk.ts";

export class OpenRequests {
  readonly #ids = new Set<RequestId>();
  #whenEmpty: (() => void) | undefined;

  /** Takes a request in; false when one with this id still runs. */
  begin(id: RequestId): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    return true;
  }

  answered(id: RequestId): void {
    this.#ids.delete(id);
    if (this.#ids.size === 0) this.#whenEmpty?.();
  }

  /** A cancelled request gets no answer any more. The id is what the client wrote, so it may be anything. */
  cancelled(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") this.answered(id);
  }

  /** Resolves when no request is open, at the latest after `limitMs`. */
  async allAnswered(clock: Clock, limitMs: number): Promise<void> {
    if (this.#ids.size === 0) return;
    const timer = new AbortController();
    const empty = new Promise<void>((resolve) => this.#whenEmpty = resolve);
    await Promise.race([empty, clock.sleep(limitMs, timer.signal).catch(() => {})]);
    timer.abort();
  }
}
