/** The one line of progress on a terminal: only for work over a second, and gone at the end. */

import type { Clock } from "../base/clock.ts";
import { formatDuration } from "../base/units.ts";
import { visibleText } from "../base/visible_text.ts";
import type { Progress } from "../contract/operation.ts";
import { displayWidth } from "./columns.ts";

/** Work shorter than this shows nothing. */
const QUIET_MS = 1000;
const REDRAW_MS = 500;

export interface ProgressOptions {
  clock: Clock;
  /** Columns of the terminal now. */
  columns: () => number;
  write: (text: string) => Promise<void>;
}

/** Draws and clears the line with carriage returns and spaces alone, so that every terminal understands it. */
export class ProgressLine {
  readonly #options: ProgressOptions;
  readonly #started: number;
  readonly #ended = new AbortController();
  readonly #drawing: Promise<void>;
  #latest: Progress | undefined;
  #shownWidth = 0;
  #isPaused = false;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#started = options.clock.monotonic();
    this.#drawing = this.#redraw().catch(() => {});
  }

  report(progress: Progress): void {
    this.#latest = progress;
  }

  /** Takes the line away for good, since other output begins on the same terminal. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await this.#clear();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#drawing;
    await this.#clear();
  }

  async #redraw(): Promise<void> {
    const { clock } = this.#options;
    await clock.sleep(QUIET_MS, this.#ended.signal);
    for (;;) {
      if (!this.#isPaused && this.#latest !== undefined) await this.#draw(this.#latest);
      await clock.sleep(REDRAW_MS, this.#ended.signal);
    }
  }

  async #draw({ message, fraction }: Progress): Promise<void> {
    const share = fraction === undefined ? "" : ` ${Math.floor(fraction * 100)} %`;
    const elapsed = formatDuration(
      Math.floor((this.#options.clock.monotonic() - this.#started) / 1000) * 1000,
    );
    const text = cutTo(`${visibleText(message)}${share} (${elapsed})`, this.#options.columns() - 1);
    const width = displayWidth(text);
    const blanks = " ".repeat(Math.max(0, this.#shownWidth - width));
    this.#shownWidth = width;
    await this.#options.write(`\r${text}${blanks}`);
  }

  async #clear(): Promise<void> {
    if (this.#shownWidth === 0) return;
    const blanks = " ".repeat(this.#shownWidth);
    this.#shownWidth = 0;
    await this.#options.write(`\r${blanks}\r`);
  }
}

function cutTo(text: string, columns: number): string {
  let cut = text;
  while (cut !== "" && displayWidth(cut) > columns) cut = [...cut].slice(0, -1).join("");
  return cut;
}
