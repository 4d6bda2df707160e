/** Calling the keeper from a call: notes and a look at its lock here, a new process only where none lives. */

import { toHvError } from "../base/errors.ts";
import type { KeeperCall } from "../drivers/background_abilities.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "../state/layout.ts";

/** For which state folder, and with which settings, a keeper is to be started. */
export interface KeeperTarget {
  host: Host;
  state: StateFolder;
  /** The configuration file in use. */
  config: string | null;
  driverName: string | undefined;
}

/** Starts a keeper as a process of its own and returns once it exists. */
export type StartKeeper = (target: KeeperTarget) => Promise<void>;

/** One session's line to the keeper. Work goes on behind the calls; {@link settled} waits for it. */
export class KeeperCaller implements KeeperCall {
  /** Why the last start failed; `undefined` when it did not. */
  failure: string | undefined;
  readonly #target: KeeperTarget;
  readonly #start: StartKeeper;
  #work: Promise<void> = Promise.resolve();

  constructor(target: KeeperTarget, start: StartKeeper) {
    this.#target = target;
    this.#start = start;
  }

  wake(): void {
    this.#queue({ isWanted: true });
  }

  revive(): void {
    this.#queue({ isWanted: false });
  }

  /** Resolves when everything that was asked for is done. */
  async settled(): Promise<void> {
    await this.#work;
  }

  #queue({ isWanted }: { isWanted: boolean }): void {
    this.#work = this.#work.then(async () => {
      try {
        const { seeKeeper, wantKeeper } = await import("../state/keeper_mark.ts");
        const { host, state } = this.#target;
        if (isWanted) await wantKeeper(host, state);
        const { alive, wanted } = await seeKeeper(host, state);
        if (wanted && !alive) await this.#start(this.#target);
        this.failure = undefined;
      } catch (error) {
        // Everything works without a keeper; the history's readers are told that none runs.
        this.failure = toHvError(error).message;
      }
    });
  }
}
