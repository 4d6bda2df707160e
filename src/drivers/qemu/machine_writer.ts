/** Writes what happened to one machine into the history, and has its crashes kept. */

import { copyThroughJson, type JsonObject } from "../../base/json.ts";
import type { VmEventKind } from "../../contract/vm.ts";
import type { Journal } from "../background_abilities.ts";
import type { CrashKeeping } from "../crash_abilities.ts";
import { readBugCheck } from "./console/bug_check.ts";
import { keepCrashPicture } from "./console/crash_picture.ts";
import type { QemuContext } from "./context.ts";
import { type Happening, missedEvent } from "./watch/events.ts";
import type { QmpSession } from "./monitor/qmp.ts";
import type { VmRecord } from "./records.ts";
import { noteOnVmLock } from "./vm_lock.ts";

/** Events that a call which is at work explains. */
const EXPLAINED: ReadonlySet<VmEventKind> = new Set(["paused", "resumed", "stopped"]);
/** What a crash that is being kept brings with it: the guest goes on for a moment, may begin to reboot, and is halted again. */
const OF_KEEPING: ReadonlySet<VmEventKind> = new Set(["paused", "resumed", "reset", "crashed"]);

/** Of a crash that nobody saw and that the machine has left behind. */
const GONE_ON = "Its guest has gone on since, so that the memory of the crash is lost";

/** Where a machine's history goes, and who keeps its crashes. */
export interface WriterParts {
  readonly context: QemuContext;
  readonly journal: Journal;
  readonly session: QmpSession;
  readonly keep: CrashKeeping;
}

/** Writes everything in its turn. */
export class MachineWriter {
  /** Resolves when all that was handed in so far is in the journal. */
  done: Promise<void> = Promise.resolve();
  readonly #parts: WriterParts;
  readonly #closing = new AbortController();
  #record: VmRecord;
  #isKeeping = false;

  constructor(parts: WriterParts, record: VmRecord) {
    this.#parts = parts;
    this.#record = record;
  }

  /** Whether a crash is being kept right now. */
  get isKeeping(): boolean {
    return this.#isKeeping;
  }

  /** The record as it is now; its crash policy may have changed. */
  set record(record: VmRecord) {
    this.#record = record;
  }

  /** Breaks off what is being kept; the crash is not written down, so that the next keeper finds it. */
  close(): void {
    this.#closing.abort();
  }

  /**
   * Writes the start unless it is known, else what must have happened since the last event that is. Answers whether the
   * start was new.
   */
  async begin(status: string): Promise<boolean> {
    const { journal } = this.#parts;
    const { id, last_start: start } = this.#record;
    const known = await journal.newest(id, "started");
    const isNew = start !== undefined && known?.at !== start.at;
    if (isNew) journal.add(startedEvent(this.#record));
    const last = isNew ? startedEvent(this.#record) : await journal.newest(id);
    const missed = last === undefined ? undefined : missedEvent(status, last);
    if (missed !== undefined) {
      const known = missed === "crashed" ? await this.#keptBugCheck() : {};
      this.write({ event: missed, details: { late: true, ...known }, at: null });
    }
    // Keeping a crash takes its time; everything else is written by now.
    if (!this.#isKeeping) await this.done;
    return isNew;
  }

  write(happening: Happening | undefined): void {
    if (happening === undefined) return;
    const { event, details } = happening;
    if (this.#isKeeping && OF_KEEPING.has(event)) return;
    const { context } = this.#parts;
    const at = happening.at ?? context.host.clock.now();
    // What a call is doing with the machine right now explains a pause or an end; it must be asked at once.
    const isExplained = EXPLAINED.has(event) && details.late !== true;
    const work = isExplained
      ? noteOnVmLock(context, this.#record.id).catch(() => undefined)
      : Promise.resolve(undefined);
    const crash = event === "crashed" ? this.#takeCrash(details, at) : undefined;
    this.done = this.done.then(async () => {
      const during = await work;
      const more = await crash;
      if (more === "broken_off") return;
      const kind = event === "stopped" && during === "saving" ? "saved" : event;
      this.#add(kind, { ...details, ...more, ...(during === undefined ? {} : { during }) }, at);
    });
  }

  /** A processor keeps the bug check of its guest, so that nothing of it is lost with the event. */
  async #keptBugCheck(): Promise<JsonObject> {
    const found = await readBugCheck(this.#parts.session);
    return found === undefined ? {} : { bug_check: { ...found } };
  }

  /** Takes the picture of a crash and keeps it by the VM's policy. Never rejects. */
  async #takeCrash({ action, late, passed }: JsonObject, at: number): Promise<JsonObject | "broken_off"> {
    const { context, session, keep } = this.#parts;
    const { id, name, on_crash: policy, last_start: start } = this.#record;
    if (passed === true) return { crash_problem: GONE_ON };
    const isLate = late === true;
    // A guest that goes on by itself, as into a crash kernel of its own, is left alone.
    if (action !== "pause" && !isLate) return {};
    this.#isKeeping = policy !== undefined;
    // The guest stands still now; whoever lets it go on changes what its screen shows.
    const picture = isLate ? {} : await keepCrashPicture(context, this.#record, session, at);
    if (policy === undefined) return picture;
    try {
      const known = isLate ? (await this.#parts.journal.newest(id, "crashed"))?.at : undefined;
      const kept = await keep({
        vm: id,
        name,
        at: new Date(at).toISOString(),
        run: start?.at ?? "",
        policy,
        late: isLate,
        ...(known === undefined ? {} : { after: known }),
      }, this.#closing.signal);
      return { ...picture, crash: copyThroughJson(kept) ?? {} };
    } catch (error) {
      if (this.#closing.signal.aborted) return "broken_off";
      return { ...picture, crash_problem: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#isKeeping = false;
    }
  }

  #add(event: VmEventKind, details: JsonObject, at: number): void {
    this.#parts.journal.add({ at: new Date(at).toISOString(), vm: this.#record.id, event, details });
  }
}

/** The start that a record tells of. */
export function startedEvent(
  { id, name, last_start: start }: VmRecord,
): { at: string; vm: string; event: "started"; details: JsonObject } {
  return {
    at: start?.at ?? "",
    vm: id,
    event: "started",
    details: start === undefined
      ? { name }
      : { name, pid: start.pid, accelerator: start.accelerator, qemu: start.qemu },
  };
}
