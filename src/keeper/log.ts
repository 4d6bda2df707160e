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

  constructor(clock: Clock, path: string) {
    this.#clock = clock;
    this.#file = new LogFile(path, LOG_LIMIT_BYTES);
  }

  /** Adds a line; one that only says again what the line before said is left out. */
  async write(text: string): Promise<void> {
    if (text === this.#last) return;
    this.#last = text;
    const time = new Date(this.#clock.now()).toISOString();
    await this.#file.append(`${time} ${visibleText(text)}`).catch(() => {});
  }
}
