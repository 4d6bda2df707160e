/** What the keeper does for QEMU: watches machines, ends leases, tends pools. */

import { toHvError } from "../../../base/errors.ts";
import type { BackgroundNeeds, BackgroundWork, Journal } from "../../background_abilities.ts";
import type { CallScope } from "../../call_scope.ts";
import type { CrashKeeping, GuestTelling } from "../../crash_abilities.ts";
import type { TemplateAbilities } from "../../template_abilities.ts";
import { boundSerialLog } from "../console/serial_bound.ts";
import type { QemuContext } from "../context.ts";
import { isEnd } from "./events.ts";
import { finishOpenCrash } from "../crashes/open_crash.ts";
import { type MachineWatch, watchMachine } from "./machine_watch.ts";
import { startedEvent } from "../machine_writer.ts";
import { observe } from "../observe.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";
import type { Sandboxes } from "../sandboxes.ts";

/** How long until what failed is tried again. */
const TRY_AGAIN_MS = 5_000;
/** A start whose monitor was not there at the last look may be on its way. */
const COMING_UP_MS = 500;

export interface QemuBackgroundParts {
  context: QemuContext;
  records: VmRecords;
  sandboxes: Sandboxes;
  templates: Pick<TemplateAbilities, "tendPools">;
  /** Whether anybody wants clones to be ready. */
  hasPools: () => Promise<boolean>;
  /** Keeps a crash by its VM's policy. */
  keep: CrashKeeping;
  /** Tells a running guest what to panic at. */
  tell: GuestTelling;
}

/** The background work of one state folder. */
export class QemuBackground implements BackgroundWork {
  readonly #parts: QemuBackgroundParts;
  readonly #journal: Journal;
  readonly #changed: () => void;
  readonly #watches = new Map<string, MachineWatch>();
  /** The starts whose end is in the history, by VM: such a VM need not be looked at until it starts again. */
  readonly #over = new Map<string, string>();
  readonly #leases = new Map<string, VmRecord>();
  readonly #since: number;

  constructor(parts: QemuBackgroundParts, journal: Journal, changed: () => void) {
    this.#parts = parts;
    this.#journal = journal;
    this.#changed = changed;
    this.#since = parts.context.host.clock.now();
  }

  async look(scope: CallScope): Promise<BackgroundNeeds> {
    const { records, templates, hasPools } = this.#parts;
    const due: number[] = [];
    const failed = (what: string, error: unknown): void => {
      scope.signal.throwIfAborted();
      due.push(this.#now() + TRY_AGAIN_MS);
      scope.warn?.(`${what}: ${toHvError(error).message}`);
    };
    await this.#endLeases(scope).catch((error) => failed("Leases could not be ended", error));
    const pools = await hasPools();
    if (pools) await templates.tendPools(scope).catch((error) => failed("Pools could not be filled", error));
    const { records: known } = await records.list();
    let coming = 0;
    for (const record of known.filter(isWatched)) {
      try {
        const found = await this.#watch(record, scope.signal);
        if (found === "coming") coming++;
        if (found === "watched") await boundSerialLog(this.#parts.context, record);
      } catch (error) {
        coming++;
        failed(`"${record.name}" cannot be watched`, error);
      }
    }
    this.#forgetGone(known);
    if (coming > 0) due.push(this.#now() + COMING_UP_MS);
    const leases = known.filter(livesByLease);
    for (const { sandbox } of leases) due.push(Date.parse(sandbox?.expires_at ?? ""));
    const next = due.filter((time) => !Number.isNaN(time)).sort((a, b) => a - b)[0];
    return {
      machines: this.#watches.size + coming,
      leases: leases.length,
      pools: pools ? 1 : 0,
      // What is overdue after all this work did not go away by it.
      ...(next === undefined ? {} : { due_at: Math.max(next, this.#now() + COMING_UP_MS) }),
    };
  }

  async isNeeded(): Promise<boolean> {
    const { context, records, hasPools } = this.#parts;
    if (await hasPools()) return true;
    for (const record of (await records.list()).records) {
      if (livesByLease(record)) return true;
      if (!isWatched(record)) continue;
      const monitor = new RuntimeFolder(record.runtime).monitor("keeper");
      if (await context.host.files.stat(monitor) === undefined) continue;
      using connection = await context.host.sockets.connectUnix(monitor);
      if (connection !== undefined) return true;
    }
    return false;
  }

  async close(): Promise<void> {
    for (const watch of this.#watches.values()) await watch.close();
    this.#watches.clear();
  }

  #now(): number {
    return this.#parts.context.host.clock.now();
  }

  /** Removes the sandboxes whose time has come, through the same code and locks as every call. */
  async #endLeases(scope: CallScope): Promise<void> {
    const { records, sandboxes } = this.#parts;
    let isOver = false;
    for (const record of (await records.list()).records.filter(livesByLease)) {
      this.#leases.set(record.id, record);
      isOver ||= await sandboxes.whyEnded(record) !== undefined;
    }
    if (!isOver) return;
    for (const { warnings = [] } of await sandboxes.sweep(scope)) {
      warnings.forEach((warning) => scope.warn?.(warning));
    }
  }

  /** Writes down the leases that are over, whoever removed the sandboxes; VMs that are gone leave nothing in memory. */
  #forgetGone(known: readonly VmRecord[]): void {
    const ids = new Set(known.map(({ id }) => id));
    for (const id of this.#over.keys()) if (!ids.has(id)) this.#over.delete(id);
    for (const [id, { name, sandbox }] of this.#leases) {
      if (ids.has(id)) continue;
      this.#leases.delete(id);
      if (sandbox === undefined || Date.parse(sandbox.expires_at) > this.#now()) continue;
      const details = { name, expires_at: sandbox.expires_at };
      const at = new Date(this.#now()).toISOString();
      const write = (): void => this.#journal.add({ at, vm: id, event: "expired", details });
      const watch = this.#watches.get(id);
      // The last events of its machine come before it, however long they take.
      if (watch === undefined) write();
      else watch.ended.then(write);
    }
  }

  /** Watches a machine that came up, or writes down how one ended that nobody was watching. */
  async #watch(record: VmRecord, signal: AbortSignal): Promise<"watched" | "coming" | "over"> {
    const { context, keep, tell } = this.#parts;
    const start = record.last_start?.at;
    const known = this.#watches.get(record.id);
    known?.update(record);
    if (known !== undefined) return "watched";
    if (start === undefined || this.#over.get(record.id) === start) return "over";
    const watch = await watchMachine({ context, keep, tell, journal: this.#journal }, record, signal);
    if (watch !== undefined) {
      this.#watches.set(record.id, watch);
      watch.ended.then(() => {
        this.#watches.delete(record.id);
        this.#over.set(record.id, start);
        this.#changed();
      });
      return "watched";
    }
    const seen = await observe(context, record, signal);
    if (seen.alive) return "coming";
    await finishOpenCrash(context, record, keep, this.#journal, signal);
    await this.#writeUnseenEnd(record, start, seen.state === "saved");
    this.#over.set(record.id, start);
    return "over";
  }

  /** A run that ended while no keeper lived, or before it had come to watch it. */
  async #writeUnseenEnd(record: VmRecord, start: string, isSaved: boolean): Promise<void> {
    const known = await this.#journal.newest(record.id, "started");
    if (known?.at !== start) {
      // Runs of a time without any keeper are not made up afterwards.
      if (Date.parse(start) < this.#since) return;
      this.#journal.add(startedEvent(record));
    }
    const last = await this.#journal.newest(record.id);
    if (last !== undefined && isEnd(last.event)) return;
    this.#journal.add({
      at: new Date(this.#now()).toISOString(),
      vm: record.id,
      event: isSaved ? "saved" : "stopped",
      details: { late: true, reason: "unseen" },
    });
  }
}

/** A VM has a history when it outlives its call, is somebody's, and has a monitor for the keeper. */
export function isWatched({ sandbox, template, adopted }: VmRecord): boolean {
  return adopted === undefined && sandbox?.maker_pid === undefined && template?.pooled !== true;
}

function livesByLease({ sandbox }: VmRecord): boolean {
  return sandbox !== undefined && sandbox.maker_pid === undefined;
}
