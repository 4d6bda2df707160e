/** A lock that its holder hands over when somebody waits: a queue in front of an ordinary {@link Locks} file. */

import { HvError } from "../base/errors.ts";
import type { Lock, LockOptions, Locks } from "./locks.ts";

const WITH_ITS_FOLDER: LockOptions = { folderMustExist: true };

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

  /**
   * Waits for the lock; rejects with the signal's reason when that aborts first, and with `hv.not_found` when the
   * lock's folder is not there: what it guards has gone away with the folder.
   */
  async take(signal?: AbortSignal): Promise<FairHold> {
    using _place = await this.#locks.take(this.#queuePath, signal, WITH_ITS_FOLDER);
    return this.#hold(await this.#locks.take(this.#path, signal, WITH_ITS_FOLDER));
  }

  get #queuePath(): string {
    return `${this.#path}.queue`;
  }

  #hold(lock: Lock): FairHold {
    const release = (): void => lock.release();
    return {
      isWanted: async () => {
        try {
          using place = await this.#locks.tryTake(this.#queuePath, WITH_ITS_FOLDER);
          return place === undefined;
        } catch (error) {
          // Nothing is left to hold on to.
          if (error instanceof HvError && error.code === "hv.not_found") return true;
          throw error;
        }
      },
      release,
      [Symbol.dispose]: release,
    };
  }
}
