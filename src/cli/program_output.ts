/** A guest program's streams on their way to ours. */

import { visibleLines } from "../base/visible_text.ts";
import type { ByteSink } from "../guest/channel.ts";
import type { OutputStream } from "../host/terminal.ts";

/** One stream: raw bytes into a pipe or a file, visible text onto a terminal. */
export class ProgramStream {
  /** Bytes that the program has written so far. */
  bytes = 0;
  readonly #output: OutputStream;
  readonly #before: () => Promise<void>;
  #decoder: TextDecoder | undefined;
  /** A carriage return that may turn out to belong to a line end. */
  #held = "";

  /** `before` is awaited ahead of each write; it takes other text off the terminal. */
  constructor(output: OutputStream, before: () => Promise<void>) {
    this.#output = output;
    this.#before = before;
  }

  readonly sink: ByteSink = async (bytes) => {
    this.bytes += bytes.length;
    await this.#before();
    if (!this.#output.isTerminal) return await this.#output.write(bytes);
    this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    await this.#show(this.#held + this.#decoder.decode(bytes, { stream: true }));
  };

  /** Writes what was held back for its next byte. */
  async end(): Promise<void> {
    if (this.#decoder === undefined) return;
    const last = this.#held + this.#decoder.decode();
    this.#held = "";
    if (last !== "") await this.#output.write(new TextEncoder().encode(visibleLines(last)));
  }

  async #show(text: string): Promise<void> {
    this.#held = text.endsWith("\r") ? "\r" : "";
    const ready = this.#held === "" ? text : text.slice(0, -1);
    if (ready !== "") await this.#output.write(new TextEncoder().encode(visibleLines(ready)));
  }
}
