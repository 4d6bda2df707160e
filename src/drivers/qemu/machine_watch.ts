/** One machine's own monitor for the keeper, held as long as the machine lives. */

import { isPlainObject, type JsonObject } from "../../base/json.ts";
import type { VmEventKind } from "../../contract/vm.ts";
import type { Journal } from "../background_abilities.ts";
import { keepCrashPicture } from "./console/crash_picture.ts";
import type { QemuContext } from "./context.ts";
import { EventTranslator, type Happening, missedEvent } from "./events.ts";
import { proveIdentity } from "./monitors.ts";
import { type QmpEvent, QmpSession } from "./qmp.ts";
import type { VmRecord } from "./records.ts";
import { RuntimeFolder } from "./runtime_folder.ts";
import { noteOnVmLock } from "./vm_lock.ts";

/** QEMU answers once its machine exists; a keeper has time. */
const GREETING_LIMIT_MS = 5_000;

/** A machine that is being watched. */
export interface MachineWatch {
  /** Resolves when the machine's run is over and written down. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Begins to watch a machine: writes down that it started, unless that is known, and from then on what QEMU tells.
 * Answers `undefined` when nobody listens on its monitor. Throws what {@link QmpSession.open} throws.
 */
export async function watchMachine(
  context: QemuContext,
  record: VmRecord,
  journal: Journal,
  signal: AbortSignal,
): Promise<MachineWatch | undefined> {
  const { host } = context;
  const path = new RuntimeFolder(record.runtime).monitor("keeper");
  const connection = await host.sockets.connectUnix(path);
  if (connection === undefined) return undefined;
  const early: QmpEvent[] = [];
  let take = (event: QmpEvent): void => void early.push(event);
  const onEvent = (event: QmpEvent): void => take(event);
  const session = await QmpSession.open(connection, host.clock, {
    signal,
    onEvent,
    greetingMs: GREETING_LIMIT_MS,
  });
  try {
    await proveIdentity(session, record.id, path, signal);
    const answer = await session.command("query-status", undefined, { signal });
    const status = isPlainObject(answer) && typeof answer.status === "string" ? answer.status : "";
    const writer = new MachineWriter(context, record, journal, session);
    await writer.begin(record, status);
    const translator = new EventTranslator(status);
    take = (event) => writer.write(translator.translate(event));
    early.forEach(take);
    let isClosed = false;
    const ended = session.ended.then(async () => {
      if (!isClosed) writer.write(translator.end());
      await writer.done;
    });
    return {
      ended,
      async close() {
        isClosed = true;
        session.close();
        await ended;
      },
    };
  } catch (error) {
    session.close();
    await session.ended;
    throw error;
  }
}

const EXPLAINED: ReadonlySet<VmEventKind> = new Set(["paused", "resumed", "stopped"]);

/** Writes what happened to one machine, each in its turn. */
class MachineWriter {
  /** Resolves when all that was handed in so far is in the journal. */
  done: Promise<void> = Promise.resolve();
  readonly #context: QemuContext;
  readonly #record: VmRecord;
  readonly #vm: string;
  readonly #journal: Journal;
  readonly #session: QmpSession;

  constructor(context: QemuContext, record: VmRecord, journal: Journal, session: QmpSession) {
    this.#context = context;
    this.#record = record;
    this.#vm = record.id;
    this.#journal = journal;
    this.#session = session;
  }

  /** Writes the start unless it is known, else what must have happened since the last event that is. */
  async begin(record: VmRecord, status: string): Promise<void> {
    const start = record.last_start;
    const known = await this.#journal.newest(this.#vm, "started");
    if (start !== undefined && known?.at !== start.at) {
      return this.#journal.add(startedEvent(record));
    }
    const last = await this.#journal.newest(this.#vm);
    const missed = last === undefined ? undefined : missedEvent(status, last.event);
    if (missed !== undefined) this.#add(missed, { late: true }, null);
  }

  write(happening: Happening | undefined): void {
    if (happening === undefined) return;
    const { event, details, at } = happening;
    // What a call is doing with the machine right now explains a pause or an end; it must be asked at once.
    const work = EXPLAINED.has(event)
      ? noteOnVmLock(this.#context, this.#vm).catch(() => undefined)
      : Promise.resolve(undefined);
    // The guest stands still now; whoever lets it go on changes what its screen shows.
    const picture = event === "crashed" && details.action === "pause"
      ? keepCrashPicture(this.#context, this.#record, this.#session, at ?? this.#context.host.clock.now())
      : undefined;
    this.done = this.done.then(async () => {
      const during = await work;
      const kind = event === "stopped" && during === "saving" ? "saved" : event;
      this.#add(kind, { ...details, ...await picture, ...(during === undefined ? {} : { during }) }, at);
    });
  }

  #add(event: VmEventKind, details: JsonObject, at: number | null): void {
    const time = new Date(at ?? this.#context.host.clock.now()).toISOString();
    this.#journal.add({ at: time, vm: this.#vm, event, details });
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
