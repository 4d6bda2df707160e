/** An end for requests whose server says nothing any more. */

import type { Clock } from "../../base/clock.ts";
import { HvError } from "../../base/errors.ts";
import { withoutSecrets } from "../../host/downloads.ts";

/** A server that says nothing for so long is given up. */
const SILENCE_MS = 30_000;

/** Its signal aborts with `hv.unavailable` after the silence, and with the outer signal. */
export class Silence implements Disposable {
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #url: string;
  readonly #end = new AbortController();
  #timer = new AbortController();

  constructor(clock: Clock, outer: AbortSignal, url: string) {
    this.#clock = clock;
    this.#url = url;
    this.signal = AbortSignal.any([outer, this.#end.signal]);
    this.heard();
  }

  /** It has said something: the time begins anew. */
  heard(): void {
    this.#timer.abort();
    this.#timer = new AbortController();
    this.#clock.sleep(SILENCE_MS, this.#timer.signal).then(
      () =>
        this.#end.abort(
          new HvError(
            "hv.unavailable",
            `Cannot fetch "${withoutSecrets(this.#url)}": the server has been silent for too long`,
            {
              hint: "Try again: what came is kept",
              context: { url: withoutSecrets(this.#url) },
            },
          ),
        ),
      () => {},
    );
  }

  [Symbol.dispose](): void {
    this.#timer.abort();
  }
}
