/** Steps back: what a failed call made is taken away again, last thing first. */

/**
 * Collects one step back for each thing that was made. Disposed while armed it runs them in reverse; `keep`
 * disarms it when all has gone well. Steps run although one of them fails; what failed is handed to `onFailure`.
 */
export class UndoList implements AsyncDisposable {
  #steps: { what: string; step: () => Promise<unknown> }[] = [];
  readonly #onFailure: (what: string, error: unknown) => void;

  constructor(onFailure: (what: string, error: unknown) => void = () => {}) {
    this.#onFailure = onFailure;
  }

  /** Remembers how to take back what was just made. */
  add(what: string, step: () => Promise<unknown>): void {
    this.#steps.push({ what, step });
  }

  /** Keeps everything that was made. */
  keep(): void {
    this.#steps = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { what, step } of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        this.#onFailure(what, error);
      }
    }
  }
}
