/** Hears a guest that says on its console alone that its kernel has panicked, as one without the pvpanic driver does. */

import type { Clock } from "../../../base/clock.ts";
import { joinPath } from "../../../base/paths.ts";
import { parseConsole } from "../../../dump/linux/console/parse.ts";
import type { QemuContext } from "../context.ts";
import { SERIAL_LOG } from "../power/instance.ts";

/** Looking is a `stat`; machines without a policy are not looked at. */
const LOOK_MS = 500;
/** A panic's report is printed within moments; one that is cut in two by a look is found at the next. */
const WINDOW_CHARACTERS = 64 * 1024;
/** What a guest pours between two looks beyond this is not looked at. */
const PIECE_BYTES = 1024 * 1024;
/** Every panic has this line, and hardly anything else has. */
const PANIC = "Kernel panic - not syncing";

/** Who is told. */
export interface PanicHearer {
  onPanic(): Promise<void>;
  /** Whether a crash of the machine is being kept, so that its text is no news. */
  isBusy(): boolean;
}

/** Watches the first serial line of one machine. */
export class ConsoleWatch {
  readonly #context: QemuContext;
  readonly #path: string;
  readonly #hearer: PanicHearer;
  #at: number | undefined;
  #window = "";
  #mustSkip = false;
  #ending: AbortController | undefined;

  /** `at` is the offset from which on the log is read, its present end when left out. */
  constructor(context: QemuContext, vm: string, hearer: PanicHearer, at?: number) {
    this.#context = context;
    this.#path = joinPath(context.state.vm(vm), SERIAL_LOG);
    this.#hearer = hearer;
    this.#at = at;
  }

  /** Begins or ends, as told; being there already changes nothing. */
  watch(wanted: boolean): void {
    if (wanted === (this.#ending !== undefined)) return;
    this.#ending?.abort();
    this.#ending = undefined;
    if (!wanted) return this.skip();
    this.#ending = new AbortController();
    void this.#lookOn(this.#context.host.clock, this.#ending.signal);
  }

  /** What was printed until now is of no interest any more. */
  skip(): void {
    this.#at = undefined;
    this.#window = "";
  }

  async #lookOn(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (await this.#sees()) {
          // The report's end comes behind its first line, and so does the event of a guest that has the driver.
          await clock.sleep(LOOK_MS, signal);
          this.skip();
          await this.#hearer.onPanic();
        }
        await clock.sleep(LOOK_MS, signal);
      } catch {
        if (signal.aborted) return;
        // A machine that ends takes its log and its monitor along; the watch on it ends then as well.
        await clock.sleep(LOOK_MS, signal).catch(() => {});
      }
    }
  }

  async #sees(): Promise<boolean> {
    // The end of a console that belongs to a crash which is being kept.
    if (this.#hearer.isBusy()) this.#mustSkip = true;
    else if (this.#mustSkip) {
      this.#mustSkip = false;
      this.skip();
    }
    if (this.#mustSkip) return false;
    const size = (await this.#context.host.files.stat(this.#path))?.size_bytes ?? 0;
    const from = Math.max(this.#at ?? size, size - PIECE_BYTES);
    this.#at = size;
    if (from >= size) return false;
    const text = new TextDecoder().decode(this.#read(from, size - from));
    this.#window = (this.#window + text).slice(-Math.max(WINDOW_CHARACTERS, text.length));
    return this.#window.includes(PANIC) && parseConsole(this.#window.split("\n")).panic !== null;
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
