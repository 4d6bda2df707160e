/** What the keeper did, for who wonders. */

import type { Clock } from "../base/clock.ts";
import { visibleText } from "../base/visible_text.ts";
import { LogFile } from "../host/log_file.ts";

/** The log becomes `log.old` at this size, so that both together stay below twice as much. */
export const LOG_LIMIT_BYTES = 256 * 1024;

/** A log with times. What cannot be written is lost, and nothing else. */
export class KeeperLog {
  readonly #clock: Clock;
  readonly #file: LogFile;
  #last = "";
  #written: Promise<void> = Promise.resolve();

  constructor(clock: Clock, path: string) {
    this.#clock = clock;
    this.#file = new LogFile(path, LOG_LIMIT_BYTES);
  }

  /** Adds a line behind those that were added before; one that only says again what the last one said is left out. */
  write(text: string): Promise<void> {
    if (text === this.#last) return this.#written;
    this.#last = text;
    const line = `${new Date(this.#clock.now()).toISOString()} ${visibleText(text)}`;
    return this.#written = this.#written.then(() => this.#file.append(line)).catch(() => {});
  }

  /** Resolves when all that was added is in the file, or lost. */
  get settled(): Promise<void> {
    return this.#written;
  }
}
