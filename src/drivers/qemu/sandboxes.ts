/** Sandboxes: VMs with a lease, and some with a maker whose end is theirs. */

import { toHvError } from "../../base/errors.ts";
import { newVmId } from "../../base/ids.ts";
import type { Removed } from "../../contract/vm.ts";
import type { Lock } from "../../host/locks.ts";
import type { CallScope } from "../call_scope.ts";
import type { SandboxSpec } from "../driver.ts";
import type { QemuContext } from "./context.ts";
import { makeVm } from "./creation.ts";
import { powerOn } from "./power/instance.ts";
import type { VmRecord, VmRecords } from "./records.ts";
import { removeUnderLock, removeUnfinished, unfinishedId } from "./removal.ts";
import { basisOf, startClone } from "./templates/clone.ts";
import { coldStart, findTemplate } from "./templates/find.ts";
import { takeStartSlot } from "./templates/locks.ts";
import { claimFromPool } from "./templates/pool_claim.ts";
import { hasPool } from "./templates/pool_wish.ts";
import type { Template } from "./templates/record.ts";
import { removeStaleLocks } from "./stale_locks.ts";
import { makerLockPath, tryTakeVmLock } from "./vm_lock.ts";

/** Why a sandbox may be removed. */
export interface Ended {
  kind: "sandbox_expired" | "sandbox_abandoned";
  reason: string;
}

/** The sandboxes of this process: those tied to it live no longer than the locks that it holds for them. */
export class Sandboxes {
  readonly #context: QemuContext;
  readonly #records: VmRecords;
  /** By sandbox id; the kernel gives them back when this process ends, however it ends. */
  readonly #ours = new Map<string, Lock>();

  constructor(context: QemuContext, records: VmRecords) {
    this.#context = context;
    this.#records = records;
  }

  /** Makes a sandbox and powers it on, from a warm template where one fits; a failure leaves nothing behind. */
  async create(spec: SandboxSpec, scope: CallScope): Promise<string> {
    const claimed = await this.#claim(spec, scope);
    if (claimed !== undefined) return claimed;
    using _slot = await takeStartSlot(this.#context, scope.signal);
    using found = await findTemplate(this.#context, spec, scope);
    if (found !== undefined) {
      try {
        return await this.#make(spec, found.template, scope);
      } catch (error) {
        scope.signal.throwIfAborted();
        scope.warn?.(coldStart(spec.image, toHvError(error).message));
      }
    }
    return await this.#make(spec, undefined, scope);
  }

  /** A clone that is ready in a pool, when there is one. Its lease and its maker's lock count from now on. */
  async #claim(spec: SandboxSpec, scope: CallScope): Promise<string | undefined> {
    if (!await hasPool(this.#context, spec)) return undefined;
    const { image, name, memory_mb, cpus, tiedToUs } = spec;
    const held: string[] = [];
    let claimed: string | undefined;
    try {
      claimed = await claimFromPool(this.#context, {
        image,
        name,
        memory_mb,
        cpus,
        sandbox: this.#leaseOf(spec),
        beforeNaming: async (id) => {
          held.push(id);
          if (tiedToUs) await this.#holdMakerLock(id, scope.signal);
        },
      }, scope);
      return claimed;
    } finally {
      for (const id of held) if (id !== claimed) this.release(id);
    }
  }

  #leaseOf({ ttl_s, tiedToUs }: SandboxSpec): NonNullable<VmRecord["sandbox"]> {
    const { clock, machine } = this.#context.host;
    const expires_at = new Date(clock.now() + ttl_s * 1000).toISOString();
    return { expires_at, ...(tiedToUs ? { maker_pid: machine.processId() } : {}) };
  }

  /** Held before the record can be seen, so that nobody takes the sandbox for abandoned. */
  async #holdMakerLock(id: string, signal: AbortSignal): Promise<void> {
    this.#ours.set(id, await this.#context.host.locks.take(makerLockPath(this.#context, id), signal));
  }

  async #make(spec: SandboxSpec, template: Template | undefined, scope: CallScope): Promise<string> {
    const lease = this.#leaseOf(spec);
    const id = newVmId();
    if (spec.tiedToUs) await this.#holdMakerLock(id, scope.signal);
    try {
      await makeVm(
        this.#context,
        this.#records,
        id,
        spec,
        { sandbox: lease, ...(template === undefined ? {} : { template: basisOf(template) }) },
        scope,
        (record) => this.#powerOn(record, template, spec.tiedToUs, scope),
      );
      return id;
    } catch (error) {
      this.release(id);
      throw error;
    }
  }

  async #powerOn(
    record: VmRecord,
    template: Template | undefined,
    tiedToUs: boolean,
    scope: CallScope,
  ): Promise<void> {
    if (template === undefined) {
      return await powerOn(this.#context, this.#records, record, scope, tiedToUs);
    }
    await startClone(this.#context, this.#records, record, template, { tiedToUs }, scope);
  }

  /** Gives back the lock of a sandbox that is gone. */
  release(id: string): void {
    this.#ours.get(id)?.release();
    this.#ours.delete(id);
  }

  /** Gives back all locks: sandboxes that are tied to this process may then be swept by others. */
  close(): void {
    for (const id of [...this.#ours.keys()]) this.release(id);
  }

  /** Removes what has outlived its lease or its maker, and folders that no call is at work in any more. */
  async sweep(scope: CallScope): Promise<Removed[]> {
    const { records, damaged, unfinished } = await this.#records.list();
    const removed: Removed[] = [];
    for (const record of records) {
      if (await this.whyEnded(record) === undefined) continue;
      const result = await this.#sweepOne(record, scope);
      if (result !== undefined) removed.push(result);
    }
    for (const { name, path } of unfinished) {
      const id = unfinishedId(name);
      if (id !== undefined) await this.#sweepFolder(id, path);
    }
    const unfinishedIds = unfinished.flatMap(({ name }) => unfinishedId(name) ?? []);
    const known = [...records.map(({ id }) => id), ...damaged.map(({ name }) => name), ...unfinishedIds];
    await removeStaleLocks(this.#context, new Set(known));
    return removed;
  }

  /** Why a sandbox has come to its end; `undefined` while it has not, and for every lasting VM. */
  async whyEnded(record: VmRecord): Promise<Ended | undefined> {
    const { sandbox } = record;
    if (sandbox === undefined) return undefined;
    const { host } = this.#context;
    if (Date.parse(sandbox.expires_at) <= host.clock.now()) {
      return { kind: "sandbox_expired", reason: `Its lease ended at ${sandbox.expires_at}` };
    }
    if (sandbox.maker_pid === undefined) return undefined;
    using maker = await host.locks.tryTake(makerLockPath(this.#context, record.id), { onlyLooks: true });
    if (maker === undefined) return undefined;
    return { kind: "sandbox_abandoned", reason: `The process ${sandbox.maker_pid} that made it has ended` };
  }

  async #sweepOne(seen: VmRecord, scope: CallScope): Promise<Removed | undefined> {
    try {
      await using lock = await tryTakeVmLock(this.#context, seen.id, "removing");
      if (lock === undefined) return undefined;
      const record = await this.#records.find(seen.id);
      if (record === undefined) {
        lock.endWithVm();
        return undefined;
      }
      // The listing may be old: somebody has claimed it from a pool meanwhile.
      if (await this.whyEnded(record) === undefined) return undefined;
      this.release(record.id);
      return await removeUnderLock(this.#context, lock, record, record.name, scope);
    } catch (error) {
      scope.signal.throwIfAborted();
      const { message } = toHvError(error);
      return { id: seen.id, name: seen.name, removed: false, files: [], warnings: [message] };
    }
  }

  /** A leftover that cannot be removed now stays listed as an orphan; the change at hand goes on. */
  async #sweepFolder(id: string, path: string): Promise<void> {
    try {
      await using lock = await tryTakeVmLock(this.#context, id, "removing");
      if (lock === undefined) return;
      await removeUnfinished(this.#context, path);
      lock.endWithVm();
    } catch {
      return;
    }
  }
}
