/** Telling our own marked lines from a program's bytes on one stream. */

import { beginningOf, joinBytes } from "../../base/byte_search.ts";
import type { ByteSink } from "../channel.ts";
import { SIGNS } from "./marked_program.ts";

const LINE_END = 0x0a;
/** What is kept of the bytes before the program began: a banner, or the words of an ssh that could not log in. */
const PRELUDE_LIMIT = 16 * 1024;

/**
 * Follows one stream. What comes before the line that says the program has begun is kept aside, what comes after the
 * one that says it has ended is dropped, and all between goes to the sink.
 */
export class MarkedStream {
  /** What our first line carried; `undefined` until it has come. */
  begun: string | undefined;
  /** What our last line carried. */
  ended: string | undefined;
  /** Why the program was not started. */
  failed: string | undefined;
  readonly #mark: Uint8Array;
  readonly #sink: ByteSink;
  readonly #changed: () => void;
  #held: Uint8Array = new Uint8Array(0);
  #prelude: Uint8Array = new Uint8Array(0);

  /** `changed` is called after each line of ours. */
  constructor(mark: string, sink: ByteSink, changed: () => void = () => {}) {
    this.#mark = new TextEncoder().encode(mark);
    this.#sink = sink;
    this.#changed = changed;
  }

  /** What came before the program. */
  get prelude(): string {
    return new TextDecoder().decode(this.#prelude).trim();
  }

  async take(bytes: Uint8Array): Promise<void> {
    let rest = joinBytes(this.#held, bytes);
    for (;;) {
      const at = beginningOf(this.#mark, rest);
      await this.#deliver(rest.subarray(0, at));
      rest = rest.subarray(at);
      const end = rest.indexOf(LINE_END);
      if (rest.length < this.#mark.length || end < 0) break;
      this.#read(new TextDecoder().decode(rest.subarray(this.#mark.length, end)));
      rest = rest.subarray(end + 1);
    }
    this.#held = rest.slice();
  }

  /** The stream is over: what looked like the beginning of a mark was the program's. */
  async end(): Promise<void> {
    const held = this.#held;
    this.#held = new Uint8Array(0);
    await this.#deliver(held);
  }

  #read(line: string): void {
    const word = line.slice(1);
    if (line.startsWith(SIGNS.begun)) this.begun = word;
    else if (line.startsWith(SIGNS.ended)) this.ended = word;
    else if (line.startsWith(SIGNS.failed)) this.failed = word;
    this.#changed();
  }

  async #deliver(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0 || this.ended !== undefined) return;
    if (this.begun !== undefined) await this.#sink(bytes);
    else this.#prelude = joinBytes(this.#prelude, bytes).slice(-PRELUDE_LIMIT);
  }
}
