/** Sandboxes: VMs on top of an image, with a lease in their mark, and some with a maker whose end is theirs. */

import { toHvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { Removed } from "../../../contract/vm.ts";
import type { Lock } from "../../../host/locks.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { SandboxSpec } from "../../driver.ts";
import type { HyperV } from "../client.ts";
import { makeVm, newKey } from "./making.ts";
import { readTag, type Tag } from "./tag.ts";

/** Why a sandbox may be removed. */
export interface Ended {
  kind: "sandbox_expired" | "sandbox_abandoned";
  reason: string;
}

/** Removes a VM with all that leads to it, and gives back what this process holds for it. */
export type Removal = (id: string, scope: CallScope) => Promise<Removed>;

/** The sandboxes that this process has made: those tied to it live no longer than the locks that it holds for them. */
export class Sandboxes {
  readonly #hyperv: HyperV;
  readonly #state: StateFolder;
  readonly #remove: Removal;
  /** By sandbox id; the kernel gives them back when this process ends, however it ends. */
  readonly #ours = new Map<string, { key: string; lock: Lock }>();

  constructor(hyperv: HyperV, state: StateFolder, remove: Removal) {
    this.#hyperv = hyperv;
    this.#state = state;
    this.#remove = remove;
  }

  /** Makes a sandbox and powers it on; a failure leaves nothing behind. */
  async create({ ttl_s, tiedToUs, ...spec }: SandboxSpec, scope: CallScope): Promise<string> {
    const { clock, locks } = this.#hyperv.host;
    const key = newKey();
    const expires_at = new Date(clock.now() + ttl_s * 1000).toISOString();
    // Held before the mark can be seen, so that nobody takes the sandbox for abandoned.
    const lock = tiedToUs ? await locks.take(this.#lockPath(key), scope.signal) : undefined;
    let id: string | undefined;
    try {
      id = await makeVm(
        this.#hyperv,
        this.#state,
        spec,
        scope,
        { sandbox: { expires_at, tied: tiedToUs } },
        key,
      );
      if (lock !== undefined) {
        this.#ours.set(id, { key, lock });
        await this.#hyperv.tieMachine(id, key, scope);
      }
      await this.#hyperv.changeMachine("start_machine", id, {}, scope);
      return id;
    } catch (error) {
      if (id !== undefined) await this.#takeBack(id, scope);
      else if (lock !== undefined) await this.#endLock(key, lock);
      throw error;
    }
  }

  /** Removing has a limit of its own: the call's may be used up. */
  async #takeBack(id: string, scope: CallScope): Promise<void> {
    try {
      await this.#remove(id, { ...scope, signal: AbortSignal.timeout(TAKE_BACK_LIMIT_MS) });
    } catch (error) {
      scope.warn?.(`The sandbox ${id} could not be removed again: ${toHvError(error).message}`);
    }
  }

  /** Removes what has outlived its lease or its maker. What cannot be removed now stays listed as an orphan. */
  async sweep(scope: CallScope): Promise<Removed[]> {
    const { machines } = await this.#hyperv.listMachines(scope.signal);
    const removed: Removed[] = [];
    for (const { id, name, notes } of machines) {
      const tag = readTag(notes);
      if (tag === undefined || await this.whyEnded(tag) === undefined) continue;
      try {
        removed.push(await this.#remove(`vm-${id}`, scope));
        await this.#hyperv.host.files.remove(this.#lockPath(tag.key));
      } catch (error) {
        scope.signal.throwIfAborted();
        removed.push({
          id: `vm-${id}`,
          name,
          removed: false,
          files: [],
          warnings: [toHvError(error).message],
        });
      }
    }
    return removed;
  }

  /** Why a sandbox has come to its end; `undefined` while it has not, and of every lasting VM. */
  async whyEnded(tag: Tag): Promise<Ended | undefined> {
    if (tag.sandbox === undefined) return undefined;
    const { expires_at, tied } = tag.sandbox;
    const { clock, files, locks } = this.#hyperv.host;
    if (expires_at !== undefined && Date.parse(expires_at) <= clock.now()) {
      return { kind: "sandbox_expired", reason: `Its lease ended at ${expires_at}` };
    }
    const path = this.#lockPath(tag.key);
    // Without the file it was made with another state folder, and only its lease tells.
    if (!tied || await files.stat(path) === undefined) return undefined;
    using maker = await locks.tryTake(path, { onlyLooks: true });
    if (maker === undefined) return undefined;
    return { kind: "sandbox_abandoned", reason: "The process that made it has ended" };
  }

  /** Gives back the lock of a sandbox that is gone. */
  async release(id: string): Promise<void> {
    const held = this.#ours.get(id);
    this.#ours.delete(id);
    if (held !== undefined) await this.#endLock(held.key, held.lock);
  }

  /** Gives back all locks: sandboxes that are tied to this process may then be swept by others. */
  close(): void {
    for (const { lock } of this.#ours.values()) lock.release();
    this.#ours.clear();
  }

  async #endLock(key: string, lock: Lock): Promise<void> {
    lock.release();
    await this.#hyperv.host.files.remove(this.#lockPath(key));
  }

  #lockPath(key: string): string {
    return joinPath(this.#state.locks, `${key}.lock`);
  }
}

const TAKE_BACK_LIMIT_MS = 30_000;
