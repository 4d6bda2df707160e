/** The whole of a guest program's stream in a file of this host, once it is longer than an answer keeps. */

import type { BoundedBytes } from "../../base/bounded_bytes.ts";
import { HvError, toHvError } from "../../base/errors.ts";
import { newUlid } from "../../base/ids.ts";
import { joinPath } from "../../base/paths.ts";
import type { FileWriter } from "../../host/files.ts";
import type { Host } from "../../host/host.ts";

/** How many whole streams and results are kept; the oldest go. */
const KEPT_FILES = 50;

/** Where whole streams go. */
export interface WholePlace {
  host: Host;
  /** The folder of whole results in the state folder. */
  folder: string;
}

/** One stream. Nothing is written while all of it fits into `kept`, which has seen the bytes before. */
export class WholeOutput {
  /** The file, when there is one that holds the whole stream. */
  file: string | undefined;
  /** Why there is none although something is missing. */
  problem: string | undefined;
  readonly #place: WholePlace;
  readonly #name: string;
  readonly #limit: number;
  #writer: FileWriter | undefined;

  constructor(place: WholePlace, name: string, limit: number) {
    this.#place = place;
    this.#name = name;
    this.#limit = limit;
  }

  /** Takes bytes before `kept` does. A file that cannot be written costs the file, never the program. */
  async push(bytes: Uint8Array, kept: BoundedBytes): Promise<void> {
    if (this.problem !== undefined || kept.total + bytes.length <= this.#limit) return;
    try {
      if (this.#writer === undefined) {
        this.#writer = await this.#begin();
        const { head, tail } = kept.parts();
        await this.#writer.write(head);
        await this.#writer.write(tail);
      }
      await this.#writer.write(bytes);
    } catch (error) {
      const { message } = error instanceof HvError ? error : toHvError(error);
      this.problem = message;
      this.close();
      if (this.file !== undefined) await this.#place.host.files.remove(this.file).catch(() => {});
      this.file = undefined;
    }
  }

  close(): void {
    this.#writer?.close();
    this.#writer = undefined;
  }

  async #begin(): Promise<FileWriter> {
    const { host: { files, clock }, folder } = this.#place;
    await files.makeFolder(folder, { mode: 0o700 });
    const names = (await files.list(folder)).map(({ name }) => name).sort();
    for (const name of names.slice(0, -KEPT_FILES)) await files.remove(joinPath(folder, name));
    this.file = joinPath(folder, `${newUlid(clock.now())}.${this.#name}`);
    return await files.create(this.file);
  }
}
