/** Hears a guest that says on its console alone that its kernel has panicked, as one without the pvpanic driver does. */

import type { Clock } from "../../../base/clock.ts";
import { joinPath } from "../../../base/paths.ts";
import { parseConsole } from "../../../dump/linux/console/parse.ts";
import { readKeptFrom } from "../console/serial_bound.ts";
import type { QemuContext } from "../context.ts";
import { SERIAL_LOG } from "../power/instance.ts";
import type { VmRecord } from "../records.ts";
import { forgetHeard, noteHeard } from "./console_note.ts";
import { findPastPanic, PANIC } from "./console_past.ts";

/** Looking is a `stat`; machines without a policy are not looked at. */
const LOOK_MS = 500;
/** A panic's report is printed within moments; one that is cut in two by a look is found at the next. */
const WINDOW_CHARACTERS = 64 * 1024;
/** What a guest pours between two looks beyond this is not looked at. */
const PIECE_BYTES = 1024 * 1024;
/** What was printed while nobody looked is looked at up to this much, which is what a log keeps at most. */
const PAST_BYTES = 32 * 1024 * 1024;
/** A guest that talks without an end has its offset noted this often; what is looked at twice does no harm. */
const NOTE_MS = 5_000;

/** A panic on the console. */
export interface HeardPanic {
  /** What the kernel said. */
  readonly message: string;
  /** Whether it was printed before anybody looked. */
  readonly late: boolean;
  /** Whether the console has been silent behind it, as far as that is known. */
  readonly isLast: boolean;
}

/** Who is told. */
export interface PanicHearer {
  onPanic(panic: HeardPanic): Promise<void>;
  /** Whether a crash of the machine is being kept, so that its text is no news. */
  isBusy(): boolean;
}

/** Watches the first serial line of one machine. */
export class ConsoleWatch {
  readonly #context: QemuContext;
  readonly #record: VmRecord;
  readonly #path: string;
  readonly #hearer: PanicHearer;
  #at: number | undefined;
  #hasLooked = false;
  #noted: { at: number; time: number } | undefined;
  #window = "";
  #mustSkip = false;
  #ending: AbortController | undefined;
  #looking: Promise<void> = Promise.resolve();

  /** `at` is the offset from which on the log is read, its present end when left out. */
  constructor(context: QemuContext, record: VmRecord, hearer: PanicHearer, at?: number) {
    this.#context = context;
    this.#record = record;
    this.#path = joinPath(context.state.vm(record.id), SERIAL_LOG);
    this.#hearer = hearer;
    this.#at = at;
  }

  /** Begins or ends, as told; being there already changes nothing. What is printed after an end is never looked at. */
  watch(wanted: boolean): void {
    if (wanted === (this.#ending !== undefined)) return;
    this.#ending?.abort();
    this.#ending = undefined;
    if (!wanted) {
      this.skip();
      this.#looking = this.#looking.then(() => forgetHeard(this.#context, this.#record.id)).catch(() => {});
      return;
    }
    const { signal } = this.#ending = new AbortController();
    this.#looking = this.#looking.then(() => this.#lookOn(this.#context.host.clock, signal));
  }

  /** Ends for now: whoever comes next goes on from here. */
  async close(): Promise<void> {
    this.#ending?.abort();
    this.#ending = undefined;
    await this.#looking;
  }

  /** What was printed until now is of no interest any more. */
  skip(): void {
    this.#at = undefined;
    this.#window = "";
    this.#noted = undefined;
  }

  async #lookOn(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const panic = await this.#look();
        if (panic !== undefined) {
          // The report's end comes behind its first line, and so does the event of a guest that has the driver.
          await clock.sleep(LOOK_MS, signal);
          this.skip();
          await this.#hearer.onPanic(panic);
        }
        await clock.sleep(LOOK_MS, signal);
      } catch {
        if (signal.aborted) return;
        // A machine that ends takes its log and its monitor along; the watch on it ends then as well.
        await clock.sleep(LOOK_MS, signal).catch(() => {});
      }
    }
  }

  async #look(): Promise<HeardPanic | undefined> {
    // The end of a console that belongs to a crash which is being kept.
    if (this.#hearer.isBusy()) this.#mustSkip = true;
    else if (this.#mustSkip) {
      this.#mustSkip = false;
      this.skip();
    }
    if (this.#mustSkip) return undefined;
    const size = (await this.#context.host.files.stat(this.#path))?.size_bytes ?? 0;
    const from = this.#at ?? size;
    const isPast = !this.#hasLooked;
    const panic = isPast ? await this.#hearPast(from, size) : this.#hear(from, size);
    this.#hasLooked = true;
    this.#at = size;
    // What is heard counts as heard once it has been acted on.
    if (panic === undefined) await this.#note(size);
    return panic;
  }

  #hear(from: number, size: number): HeardPanic | undefined {
    const start = Math.max(from, size - PIECE_BYTES);
    if (start >= size) return undefined;
    const text = new TextDecoder().decode(this.#read(start, size - start));
    this.#window = (this.#window + text).slice(-Math.max(WINDOW_CHARACTERS, text.length));
    if (!this.#window.includes(PANIC)) return undefined;
    const { panic } = parseConsole(this.#window.split("\n"));
    return panic === null ? undefined : { message: panic, late: false, isLast: true };
  }

  /** What was printed before the first look. Its end stays in the window, for a report that is being printed now. */
  async #hearPast(from: number, size: number): Promise<HeardPanic | undefined> {
    const kept = await readKeptFrom(this.#context, this.#record);
    const start = Math.max(from, kept, size - PAST_BYTES);
    if (start >= size) return undefined;
    const found = findPastPanic({ read: (at, length) => this.#read(at, length) }, start, size);
    if (found !== null) return { ...found, late: true };
    const end = Math.max(start, size - WINDOW_CHARACTERS);
    this.#window = new TextDecoder().decode(this.#read(end, size - end));
    return undefined;
  }

  async #note(at: number): Promise<void> {
    const time = this.#context.host.clock.monotonic();
    const known = this.#noted;
    if (known !== undefined && (known.at === at || time - known.time < NOTE_MS)) return;
    this.#noted = { at, time };
    await noteHeard(this.#context, this.#record, at);
  }

  #read(from: number, length: number): Uint8Array {
    const file = this.#context.host.files.open(this.#path);
    try {
      return file.read(from, length);
    } finally {
      file.close();
    }
  }
}
