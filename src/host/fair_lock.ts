/** A lock that its holder hands over when somebody waits: a queue in front of an ordinary {@link Locks} file. */

import type { Lock, Locks } from "./locks.ts";

/** A held {@link FairLock}. */
export interface FairHold extends Disposable {
  /** Whether another call or process stands in the queue; a fair holder then releases and takes the lock anew. */
  isWanted(): Promise<boolean>;
  /** Gives the lock back; a second call does nothing. */
  release(): void;
}

/**
 * Two lock files make one fair lock. Who wants it takes `<path>.queue` first and waits there for `path`; so a
 * taken queue tells the holder that somebody waits, and a holder that queues itself comes after that one.
 */
export class FairLock {
  readonly #locks: Locks;
  readonly #path: string;

  constructor(locks: Locks, path: string) {
    this.#locks = locks;
    this.#path = path;
  }

  /** Waits for the lock; rejects with the signal's reason when that aborts first. */
  async take(signal?: AbortSignal): Promise<FairHold> {
    using _place = await this.#locks.take(this.#queuePath, signal);
    return this.#hold(await this.#locks.take(this.#path, signal));
  }

  get #queuePath(): string {
    return `${this.#path}.queue`;
  }

  #hold(lock: Lock): FairHold {
    const release = (): void => lock.release();
    return {
      isWanted: async () => {
        using place = await this.#locks.tryTake(this.#queuePath);
        return place === undefined;
      },
      release,
      [Symbol.dispose]: release,
    };
  }
}
