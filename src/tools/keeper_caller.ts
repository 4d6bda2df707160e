/** Calling the keeper from a call: notes and a look at its lock here, a new process only where none lives. */

import { toHvError } from "../base/errors.ts";
import type { KeeperCall } from "../drivers/background_abilities.ts";
import type { Host } from "../host/host.ts";
import { seeKeeper, wantKeeper } from "../state/keeper_mark.ts";
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
    this.#queue(async ({ host, state }) => await wantKeeper(host, state));
  }

  revive(): void {
    this.#queue(() => Promise.resolve());
  }

  /** Resolves when everything that was asked for is done. */
  async settled(): Promise<void> {
    await this.#work;
  }

  #queue(first: (target: KeeperTarget) => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      try {
        await first(this.#target);
        const { alive, wanted } = await seeKeeper(this.#target.host, this.#target.state);
        if (wanted && !alive) await this.#start(this.#target);
        this.failure = undefined;
      } catch (error) {
        // Everything works without a keeper; the history's readers are told that none runs.
        this.failure = toHvError(error).message;
      }
    });
  }
}
