/** A pipe as QEMU's agent shows it: bounded, and losing what a read has taken that asked for too much. */

import type { JsonObject } from "../../src/base/json.ts";
import type { FakeAnswer } from "./fake_agent.ts";

const NOT_NOW = "Resource temporarily unavailable";

export class FakeGuestPipe {
  readonly #capacity: number;
  #inside: number[] = [];
  #buffered: number[] = [];
  #failedBefore = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get room(): number {
    return this.#capacity - this.#inside.length;
  }

  /** What a program in the guest writes. */
  write(bytes: Iterable<number>): void {
    this.#inside.push(...bytes);
  }

  /** What the agent does with a file request for this pipe. */
  answer(name: string, values: JsonObject): FakeAnswer {
    switch (name) {
      case "guest-file-read": {
        const count = Number(values.count);
        const taken = this.#inside.splice(0, count);
        if (taken.length < count) return refusal(`failed to read file: ${NOT_NOW}`);
        return { return: { count, "buf-b64": new Uint8Array(taken).toBase64(), eof: false } };
      }
      case "guest-file-write": {
        this.#buffered = [...Uint8Array.fromBase64(String(values["buf-b64"]))];
        const failed = this.#failedBefore;
        this.#failedBefore = false;
        return failed
          ? refusal("failed to write to file")
          : { return: { count: this.#buffered.length, eof: false } };
      }
      case "guest-file-flush": {
        const bytes = this.#buffered;
        this.#buffered = [];
        if (bytes.length > this.room) {
          this.#failedBefore = true;
          return refusal(`failed to flush file: ${NOT_NOW}`);
        }
        this.#inside.push(...bytes);
        return { return: {} };
      }
      default:
        return undefined;
    }
  }
}

function refusal(desc: string): FakeAnswer {
  return { error: { class: "GenericError", desc } };
}
