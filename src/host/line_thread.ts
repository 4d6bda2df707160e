/**
 * A regular expression in a thread of its own. Some take longer for one line than anybody lives, and nothing ends them
 * in the thread that they run in: no deadline would be kept there.
 */

import program from "./line_worker.js" with { type: "text" };

/** The first line that has what was looked for, and where in it that begins, in UTF-16 units. */
export interface LineHit {
  line: number;
  at: number;
}

/**
 * One expression's thread. It begins with the first question and lives until it is disposed of or a question ends
 * early.
 */
export class LineThread implements Disposable {
  readonly #source: string;
  #worker: Worker | undefined;

  /** `source` is an expression that `new RegExp` takes with the flag `u`. */
  constructor(source: string) {
    this.#source = source;
  }

  /** Looks through lines; one question at a time. When the signal aborts, the thread is ended with it. */
  async find(lines: readonly string[], signal: AbortSignal): Promise<LineHit | undefined> {
    signal.throwIfAborted();
    const worker = this.#worker ??= startWorker();
    const answer = Promise.withResolvers<LineHit | undefined>();
    worker.onmessage = ({ data }: MessageEvent<LineHit | null>) => answer.resolve(data ?? undefined);
    worker.onerror = (event) => {
      event.preventDefault();
      answer.reject(new Error(`The thread of the expression failed: ${event.message}`));
    };
    const end = (): void => {
      this[Symbol.dispose]();
      answer.reject(signal.reason);
    };
    signal.addEventListener("abort", end, { once: true });
    try {
      worker.postMessage({ source: this.#source, lines });
      return await answer.promise;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  [Symbol.dispose](): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}

function startWorker(): Worker {
  const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  try {
    return new Worker(address, { type: "module" });
  } finally {
    URL.revokeObjectURL(address);
  }
}
