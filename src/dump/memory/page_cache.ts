/** Keeps the pieces of a file that were used last. */

/** A cache of byte arrays by number that forgets what was not used for longest. */
export class PageCache {
  readonly #pages = new Map<number, Uint8Array>();
  readonly #capacity: number;

  /** Keeps at most `capacity` pieces. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(number: number): Uint8Array | undefined {
    const page = this.#pages.get(number);
    if (page !== undefined && this.#pages.size >= this.#capacity) {
      // The order of a Map is that of insertion; it only matters once something has to go.
      this.#pages.delete(number);
      this.#pages.set(number, page);
    }
    return page;
  }

  set(number: number, page: Uint8Array): void {
    if (this.#pages.size >= this.#capacity) {
      const oldest = this.#pages.keys().next();
      if (oldest.done !== true) this.#pages.delete(oldest.value);
    }
    this.#pages.set(number, page);
  }
}
