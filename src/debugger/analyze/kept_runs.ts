/** Earlier debugger runs, kept in the state folder: a run takes seconds to minutes, and its text does not change. */

import * as z from "zod/mini";
import { parseJson } from "../../base/json.ts";
import { joinPath } from "../../base/paths.ts";
import type { Files } from "../../host/files.ts";
import { startSha256 } from "../../host/digest.ts";

/** A run that came to its end. */
const KeptRun = z.object({
  /** The words of its markers. */
  run: z.string(),
  text: z.string(),
  dropped_bytes: z.int(),
  exit_code: z.nullable(z.int()),
});
export type KeptRun = z.infer<typeof KeptRun>;

const MOST_KEPT = 64;

/** Runs by what they were asked about. */
export class KeptRuns {
  readonly #files: Files;
  readonly #folder: string;

  constructor(files: Files, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  /** The run under a key; a file that says something else is as good as none. */
  async get(key: string): Promise<KeptRun | undefined> {
    const text = await this.#files.readTextIfPresent(this.#path(key));
    if (text === undefined) return undefined;
    try {
      return KeptRun.parse(parseJson(text));
    } catch {
      return undefined;
    }
  }

  /** Keeps a run, and forgets the oldest ones above {@link MOST_KEPT}. */
  async put(key: string, run: KeptRun): Promise<void> {
    await this.#files.makeFolder(this.#folder);
    await this.#files.writeAtomically(this.#path(key), JSON.stringify(run));
    const names = (await this.#files.list(this.#folder)).filter(({ name }) => name.endsWith(".json"));
    if (names.length <= MOST_KEPT) return;
    const dated = await Promise.all(names.map(async ({ name }) => {
      const path = joinPath(this.#folder, name);
      return { path, modified: (await this.#files.stat(path))?.modified ?? 0 };
    }));
    const oldest = dated.sort((a, b) => b.modified - a.modified).slice(MOST_KEPT);
    for (const { path } of oldest) await this.#files.remove(path);
  }

  #path(key: string): string {
    return joinPath(this.#folder, `${key}.json`);
  }
}

/** The key of a run: everything that its text depends on. */
export async function keyOfRun(parts: readonly string[]): Promise<string> {
  const digest = await startSha256();
  digest.update(new TextEncoder().encode(JSON.stringify(parts)));
  return digest.end();
}
