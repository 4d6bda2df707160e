/** Requests that the sidecar has not answered yet, by ids that nobody can guess. */

import { HvError } from "../../../base/errors.ts";
import type { Frame } from "./frames.ts";

/** What became of a request. */
export type Outcome =
  | { kind: "result"; value: unknown }
  | { kind: "error"; phase: string; error: unknown }
  | { kind: "stopped"; reason: string }
  /**
   * The sidecar has gone, or its answer cannot be read. `began` tells whether the operation had begun for all we saw.
   */
  | { kind: "lost"; began: boolean; cause: HvError };

/** One request on its way. */
export interface OpenRequest {
  readonly id: string;
  /** Resolves when the operation begins: the module is loaded, the arguments are there. Never rejects. */
  readonly begun: Promise<void>;
  /** Resolves with what became of it; never rejects. */
  readonly outcome: Promise<Outcome>;
}

interface Slot {
  began: boolean;
  begin: () => void;
  settle: (outcome: Outcome) => void;
  progress: (activity: string, percent: number) => void;
}

/** Hands frames to the requests that they belong to. A frame of an unknown id is stale or forged and is dropped. */
export class OpenRequests {
  readonly #slots = new Map<string, Slot>();
  #lost: HvError | undefined;

  get size(): number {
    return this.#slots.size;
  }

  /** Makes room for the answers of a new request. */
  open(progress: (activity: string, percent: number) => void): OpenRequest {
    const id = crypto.randomUUID();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
    const settle = (end: Outcome): void => {
      this.#slots.delete(id);
      begin();
      resolve(end);
    };
    this.#slots.set(id, { began: false, begin, settle, progress });
    if (this.#lost !== undefined) settle({ kind: "lost", began: false, cause: this.#lost });
    return { id, begun, outcome };
  }

  take(frame: Frame): void {
    const slot = this.#slots.get(frame.id);
    if (slot === undefined) return;
    switch (frame.kind) {
      case "begin":
        slot.began = true;
        slot.begin();
        return;
      case "progress":
        slot.progress(frame.activity, frame.percent);
        return;
      case "broken":
        slot.settle({
          kind: "lost",
          began: slot.began,
          cause: new HvError("hv.unavailable", "The sidecar's answer cannot be read"),
        });
        return;
      case "result":
        return slot.settle({ kind: "result", value: frame.value });
      case "error":
        return slot.settle({ kind: "error", phase: frame.phase, error: frame.error });
      case "stopped":
        return slot.settle({ kind: "stopped", reason: frame.reason });
    }
  }

  /** Nobody answers any more: every open request, and every later one, is lost. */
  lose(cause: HvError): void {
    this.#lost = cause;
    for (const slot of [...this.#slots.values()]) slot.settle({ kind: "lost", began: slot.began, cause });
  }
}
