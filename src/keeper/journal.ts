/** The history as the keeper writes it: in order, in batches, and again when the store could not be written. */

import { toHvError } from "../base/errors.ts";
import type { VmEventKind } from "../contract/vm.ts";
import type { Journal } from "../drivers/background_abilities.ts";
import type { NewVmEvent } from "../state/events.ts";
import type { ReadOnlyStore, Store } from "../state/store.ts";

/** Events that wait for a store that cannot be written, at most; the oldest go first. */
const WAITING_LIMIT = 1_000;

/** How the journal gets at the store; it is opened for each batch, since another process may replace it. */
export interface StoreDoor {
  open(): Promise<Store>;
  openReadOnly(): Promise<ReadOnlyStore | undefined>;
}

export class KeeperJournal implements Journal {
  readonly #door: StoreDoor;
  readonly #warn: (text: string) => void;
  /** Events that are not in the store yet, oldest first. */
  #waiting: NewVmEvent[] = [];
  #writing: Promise<void> | undefined;

  constructor(door: StoreDoor, warn: (text: string) => void) {
    this.#door = door;
    this.#warn = warn;
  }

  add(event: NewVmEvent): void {
    this.#waiting.push(event);
    if (this.#waiting.length > WAITING_LIMIT) {
      this.#waiting.shift();
      this.#warn("The history cannot be written; the oldest event that waited for it is lost");
    }
    void this.flush();
  }

  /** How many events are not in the store yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  async newest(vm: string, kind?: VmEventKind): Promise<NewVmEvent | undefined> {
    const fits = (event: NewVmEvent): boolean =>
      event.vm === vm && (kind === undefined || event.event === kind);
    const waits = this.#waiting.findLast(fits);
    if (waits !== undefined) return waits;
    using store = await this.#door.openReadOnly();
    return await store?.events.newest(vm, kind);
  }

  /** Writes what waits; on failure it goes on waiting. Never rejects. */
  flush(): Promise<void> {
    if (this.#waiting.length === 0) return this.#writing ?? Promise.resolve();
    return this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = new Set(this.#waiting);
        using store = await this.#door.open();
        await store.events.append([...batch]);
        store.warnings.forEach(this.#warn);
        this.#waiting = this.#waiting.filter((event) => !batch.has(event));
      }
    } catch (error) {
      this.#warn(`The history could not be written: ${toHvError(error).message}`);
    } finally {
      // In the same breath as the last look at what waits: an event behind it must find nobody at work.
      this.#writing = undefined;
    }
  }
}
