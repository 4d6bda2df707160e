/** A log that does not grow for ever. */

import { fileFailure } from "./failures.ts";

/** A text file that is appended to; at its limit it becomes `<path>.old` in the place of the one before. */
export class LogFile {
  readonly #path: string;
  readonly #limit: number;

  constructor(path: string, limitBytes: number) {
    this.#path = path;
    this.#limit = limitBytes;
  }

  /** Adds a line. Its folder must be there. Throws `hv.io`. */
  async append(line: string): Promise<void> {
    try {
      await this.rotate();
      await Deno.writeTextFile(this.#path, `${line}\n`, { append: true, mode: 0o600 });
    } catch (error) {
      throw fileFailure(error, "write", this.#path);
    }
  }

  /** Makes room when the limit is reached. */
  async rotate(): Promise<void> {
    try {
      if ((await Deno.lstat(this.#path)).size < this.#limit) return;
      await Deno.rename(this.#path, `${this.#path}.old`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}
