/** What the calls of one process share: host, configuration, state folder, and lazily the store and the driver. */

import type { Deadline } from "../base/deadline.ts";
import { HvError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { Config } from "../config/config.ts";
import type { Driver } from "../drivers/driver.ts";
import { openDriver } from "../drivers/index.ts";
import type { VmEvent } from "../contract/vm.ts";
import type { Host } from "../host/host.ts";
import type { EventQuery } from "../state/events.ts";
import type { StateFolder } from "../state/layout.ts";
import type { ReadOnlyStore, Store } from "../state/store.ts";
import type { Catalogue, DoorName } from "./tool.ts";
import type { StartFollower } from "./detached.ts";
import { KeeperCaller, type KeeperTarget, type StartKeeper } from "./keeper_caller.ts";

/** What a session is opened with. */
export interface SessionOptions {
  host: Host;
  config: Config;
  state: StateFolder;
  door: DoorName;
  catalogue: Catalogue;
  /** The driver that the command line names; wins over the configuration. */
  driverName?: string;
  /** Opens the driver; tests put an in-memory one in its place. */
  openDriver?: typeof openDriver;
  /** Starts a keeper; without it none is ever called, as in tests. */
  startKeeper?: StartKeeper;
  /** Starts a process that takes an operation over; without it no call can be detached. */
  startFollower?: StartFollower;
}

/** Opens the store and the driver once, when first asked for, and closes them together. */
export class Session implements AsyncDisposable {
  readonly host: Host;
  readonly config: Config;
  readonly state: StateFolder;
  readonly door: DoorName;
  readonly catalogue: Catalogue;
  /** What a process that hvlab starts for itself works on. */
  readonly target: KeeperTarget;
  readonly startFollower: StartFollower;
  readonly #driverName: string | undefined;
  readonly #openDriver: typeof openDriver;
  readonly #keeper: KeeperCaller | undefined;
  #store: Promise<Store> | undefined;
  #openedStore: Store | undefined;
  #toldWarnings = 0;
  #history: Promise<ReadOnlyStore | undefined> | undefined;
  #driver: Promise<Driver> | undefined;
  /** Recorded calls whose work has not ended; some have been answered already. */
  readonly #works = new Map<Promise<unknown>, Deadline>();

  constructor(options: SessionOptions) {
    this.host = options.host;
    this.config = options.config;
    this.state = options.state;
    this.door = options.door;
    this.catalogue = options.catalogue;
    this.#driverName = options.driverName ?? options.config.driver ?? undefined;
    this.#openDriver = options.openDriver ?? openDriver;
    const { host, state, config, startKeeper } = options;
    this.target = { host, state, config: config.file, driverName: this.#driverName };
    this.#keeper = startKeeper === undefined ? undefined : new KeeperCaller(this.target, startKeeper);
    this.startFollower = options.startFollower ?? noFollower;
  }

  /** The store, made on first use. A failure is forgotten, so that the next call tries again. */
  store(): Promise<Store> {
    this.#store ??= this.#openStore().catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  /** What the store wants the user to be told, such as that a damaged one was moved aside; each sentence once. */
  takeStoreWarnings(): string[] {
    const fresh = this.#openedStore?.warnings.slice(this.#toldWarnings) ?? [];
    this.#toldWarnings += fresh.length;
    return fresh;
  }

  /** What the store holds, without making one; `undefined` when there is none yet. Opened once, when there is one. */
  async history(): Promise<ReadOnlyStore | undefined> {
    if (this.#store !== undefined) return await this.#store;
    this.#history ??= this.#openHistory();
    try {
      const history = await this.#history;
      if (history === undefined) this.#history = undefined;
      return history;
    } catch (error) {
      this.#history = undefined;
      throw error;
    }
  }

  driver(): Promise<Driver> {
    this.#driver ??= this.#openDriver(this.#driverName, {
      host: this.host,
      config: this.config,
      state: this.state,
      findings: {
        get: (key) => this.#findFinding(key),
        put: async (key, value) => await (await this.store()).findings.put(key, value),
      },
      events: { list: (query) => this.#listEvents(query) },
      ...(this.#keeper === undefined ? {} : { keeper: this.#keeper }),
    });
    return this.#driver;
  }

  /** Holds the store and the driver open until this work of a recorded call has ended. */
  keepOpenFor(work: Promise<unknown>, deadline: Deadline): void {
    this.#works.set(work, deadline);
    const forget = (): boolean => this.#works.delete(work);
    work.then(forget, forget);
  }

  /** Cancels work that still goes on, waits until it is undone and recorded, and closes. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const deadline of this.#works.values()) {
      deadline.end(new HvError("hv.cancelled", "hvlab ended while the operation ran"));
    }
    await Promise.allSettled(this.#works.keys());
    await this.#keeper?.settled();
    const [driver, ...stores] = await Promise.allSettled([this.#driver, this.#store, this.#history]);
    if (driver.status === "fulfilled") await driver.value?.close();
    for (const store of stores) if (store.status === "fulfilled") store.value?.close();
  }

  /** A finding is only a short cut: a store that cannot be read just now means finding out again. */
  async #findFinding(key: string): Promise<JsonValue | undefined> {
    try {
      return await (await this.history())?.findings.get(key);
    } catch (error) {
      if (error instanceof HvError) return undefined;
      throw error;
    }
  }

  /** Opened for each look: whoever follows the history for hours must see a database that was replaced meanwhile. */
  async #listEvents(query: EventQuery): Promise<VmEvent[]> {
    using history = await this.#openHistory();
    return await history?.events.list(query) ?? [];
  }

  async #openHistory(): Promise<ReadOnlyStore | undefined> {
    const { openStoreReadOnly } = await import("../state/store.ts");
    return await openStoreReadOnly(this.host, this.state);
  }

  async #openStore(): Promise<Store> {
    const { openStore } = await import("../state/store.ts");
    try {
      return this.#openedStore = await openStore(this.host, this.state);
    } catch (error) {
      if (error instanceof HvError) throw error.withContext({ state: this.state.root });
      throw error;
    }
  }
}

function noFollower(): Promise<never> {
  return Promise.reject(
    new HvError("hv.unsupported", "This hvlab cannot start a process of its own for a call", {
      hint: "Call without --detach",
    }),
  );
}
