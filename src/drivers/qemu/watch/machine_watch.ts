/** One machine's own monitor for the keeper, held as long as the machine lives. */

import { isPlainObject } from "../../../base/json.ts";
import type { Journal } from "../../background_abilities.ts";
import type { CrashKeeping, GuestTelling } from "../../crash_abilities.ts";
import type { QemuContext } from "../context.ts";
import { readHeard } from "../crashes/console_note.ts";
import { ConsoleWatch, type HeardPanic } from "../crashes/console_watch.ts";
import { GuestTeller } from "../crashes/guest_teller.ts";
import { markCrashed, statusWithMark } from "../crashes/mark.ts";
import { isGuestSilent } from "../crashes/silence.ts";
import { EventTranslator } from "./events.ts";
import { MachineWriter } from "../machine_writer.ts";
import { proveIdentity } from "../monitor/monitors.ts";
import { type QmpEvent, QmpSession } from "../monitor/qmp.ts";
import type { VmRecord } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";

/** QEMU answers once its machine exists; a keeper has time. */
const GREETING_LIMIT_MS = 5_000;

/** Events behind which another kernel may run: one that boots, or one out of a checkpoint. */
const OTHER_GUEST: ReadonlySet<string> = new Set(["RESET", "RESUME"]);

/** A machine that is being watched. */
export interface MachineWatch {
  /** Resolves when the machine's run is over and written down. */
  readonly ended: Promise<void>;
  /** Takes the VM's record as it is now. */
  update(record: VmRecord): void;
  close(): Promise<void>;
}

/** What watching needs. */
export interface WatchParts {
  readonly context: QemuContext;
  readonly journal: Journal;
  readonly keep: CrashKeeping;
  readonly tell: GuestTelling;
}

/**
 * Begins to watch a machine: writes down that it started, unless that is known, and from then on what QEMU tells.
 * Answers `undefined` when nobody listens on its monitor. Throws what {@link QmpSession.open} throws.
 */
export async function watchMachine(
  parts: WatchParts,
  found: VmRecord,
  signal: AbortSignal,
): Promise<MachineWatch | undefined> {
  let record = found;
  const { context } = parts;
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
    const status = await statusWithMark(context, record, await askStatus(session));
    const writer = new MachineWriter({ ...parts, session }, record);
    const isNew = await writer.begin(status);
    const translator = new EventTranslator(status);
    const panics = await watchConsole(context, () => record, session, translator, writer, isNew);
    panics.watch(record.on_crash !== undefined);
    const teller = new GuestTeller({ ...parts, session }, record);
    teller.update(record);
    take = (event) => {
      const happening = translator.translate(event);
      if (happening?.event === "reset") panics.skip();
      if (OTHER_GUEST.has(event.name) && !writer.isKeeping) teller.again();
      writer.write(happening);
    };
    early.forEach(take);
    let isClosed = false;
    const ended = session.ended.then(async () => {
      await panics.close();
      await teller.close();
      if (!isClosed) writer.write(translator.end());
      await writer.done;
    });
    return {
      ended,
      update(now) {
        record = now;
        writer.record = now;
        panics.watch(now.on_crash !== undefined);
        teller.update(now);
      },
      async close() {
        isClosed = true;
        writer.close();
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

/** Halts a machine whose guest says on its console that it has panicked, and writes that as the crash that it is. */
async function watchConsole(
  context: QemuContext,
  recordNow: () => VmRecord,
  session: QmpSession,
  translator: EventTranslator,
  writer: MachineWriter,
  isNew: boolean,
): Promise<ConsoleWatch> {
  const found = recordNow();
  const onPanic = async ({ message, late, isLast }: HeardPanic): Promise<void> => {
    // A guest that has the pvpanic driver is halted by now, or is being kept.
    if (writer.isKeeping || await askStatus(session) !== "running") return;
    if (late && !(isLast && await isGuestSilent(context, recordNow()))) {
      writer.write({
        event: "crashed",
        details: { seen: "console", late, passed: true, panic: message },
        at: null,
      });
      return writer.write({ event: "reset", details: { late }, at: null });
    }
    translator.haltForCrash();
    // The mark comes first: whoever comes after a killed keeper must know why the machine stands still.
    await markCrashed(context, recordNow());
    await session.command("stop");
    const details = { action: "pause", seen: "console", panic: message, ...(late ? { late } : {}) };
    writer.write({ event: "crashed", details, at: null });
  };
  const isBusy = (): boolean => writer.isKeeping;
  // Only what was printed under a policy is listened to.
  const from = found.on_crash === undefined ? undefined : isNew ? 0 : await readHeard(context, found);
  return new ConsoleWatch(context, found, { onPanic, isBusy }, from);
}

async function askStatus(session: QmpSession): Promise<string> {
  const answer = await session.command("query-status");
  return isPlainObject(answer) && typeof answer.status === "string" ? answer.status : "";
}
