/** Collects the files below some places, once each, whatever links lie in between. */

import { HvError, toHvError } from "../base/errors.ts";
import { joinPath, nameOf } from "../base/paths.ts";
import type { DumpSkipReason, SkippedPath } from "../contract/dump_find.ts";
import type { FolderEntry } from "../host/files.ts";
import type { DumpPlace } from "./dump_places.ts";
import type { DumpFiles } from "./inspect_file.ts";

/** Files that one search looks at; what lies beyond is a skip with reason `limit`. */
export const MAXIMUM_FILES = 20_000;

/** What a walk found. */
export interface Walk {
  files: string[];
  skipped: SkippedPath[];
  /** Places that exist. */
  folders: string[];
}

interface Folder {
  path: string;
  /** Its path without links, by which it is recognised again. */
  real: string;
  depth: number;
  place: DumpPlace;
}

/**
 * Walks places in order, breadth first. Links are followed after everything else of their place, so that a file
 * appears under its own path. Fails with `hv.not_found` for a place that must exist and does not.
 */
export async function walkFolders(
  files: DumpFiles,
  places: readonly DumpPlace[],
  signal?: AbortSignal,
  limit: number = MAXIMUM_FILES,
): Promise<Walk> {
  const walker = new Walker(files, limit);
  for (const place of places) await walker.walk(place, signal);
  return walker.result;
}

class Walker {
  readonly result: Walk = { files: [], skipped: [], folders: [] };
  readonly #files: DumpFiles;
  readonly #limit: number;
  readonly #seen = new Set<string>();
  #links: Folder[] = [];
  #queue: Folder[] = [];

  constructor(files: DumpFiles, limit: number) {
    this.#files = files;
    this.#limit = limit;
  }

  async walk(place: DumpPlace, signal: AbortSignal | undefined): Promise<void> {
    const { path } = place;
    try {
      const facts = await this.#files.stat(path, { follow: true });
      if (facts === undefined) {
        if (place.optional) return;
        throw new HvError("hv.not_found", `Cannot search "${path}": it does not exist`, {
          hint: "Check the path",
          context: { path },
        });
      }
      this.result.folders.push(path);
      const start = { path, real: await this.#files.realPath(path), depth: 0, place };
      if (facts.kind === "folder") this.#queue.push(start);
      else if (!this.#isSeen(start)) this.#take(path);
    } catch (thrown) {
      const failure = toHvError(thrown);
      if (failure.code === "hv.not_found" && !place.optional) throw failure;
      this.#skipFailure(path, failure);
    }
    await this.#drain(signal);
  }

  async #drain(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const folder = this.#queue.shift();
      if (folder !== undefined) {
        await this.#readFolder(folder);
        continue;
      }
      const link = this.#links.shift();
      if (link === undefined) return;
      await this.#follow(link);
    }
  }

  async #readFolder(folder: Folder): Promise<void> {
    if (this.#isSeen(folder)) return;
    if (this.result.files.length >= this.#limit) {
      return this.#skip(folder.path, "limit", `Not searched: ${this.#limit} files were looked at already`);
    }
    let entries: FolderEntry[];
    try {
      entries = await this.#files.list(folder.path);
    } catch (thrown) {
      return this.#skipFailure(folder.path, toHvError(thrown));
    }
    for (const entry of entries) this.#sort(folder, entry);
  }

  #sort(folder: Folder, entry: FolderEntry): void {
    const { place } = folder;
    const path = joinPath(folder.path, entry.name);
    const child = { path, real: joinPath(folder.real, entry.name), depth: folder.depth + 1, place };
    if (entry.kind === "link") this.#links.push(child);
    else if (entry.kind === "folder") this.#descend(child);
    else if (place.name !== undefined && !place.name.test(entry.name)) return;
    else if (entry.kind === "other") this.#skip(path, "not_a_dump", "Not a regular file");
    else if (!this.#isSeen(child)) this.#take(path);
  }

  #descend(folder: Folder): void {
    if (folder.depth <= folder.place.depth) this.#queue.push(folder);
    else if (folder.place.name === undefined) {
      this.#skip(folder.path, "limit", `Not searched: more than ${folder.place.depth} folders deep`);
    }
  }

  async #follow(link: Folder): Promise<void> {
    const { path, place } = link;
    if (place.name !== undefined && !place.name.test(nameOf(path))) return;
    try {
      const facts = await this.#files.stat(path, { follow: true });
      if (facts === undefined) return this.#skip(path, "io_error", "A link that leads nowhere");
      const target = { ...link, real: await this.#files.realPath(path) };
      if (this.#seen.has(target.real)) {
        return this.#skip(path, "duplicate", `A link to "${target.real}", which was searched already`);
      }
      if (facts.kind === "folder") return this.#descend(target);
      if (facts.kind !== "file") return this.#skip(path, "not_a_dump", "Not a regular file");
      if (!this.#isSeen(target)) this.#take(path);
    } catch (thrown) {
      this.#skipFailure(path, toHvError(thrown));
    }
  }

  /** Whether this was met before; it counts as met from now on. */
  #isSeen({ real }: Folder): boolean {
    if (this.#seen.has(real)) return true;
    this.#seen.add(real);
    return false;
  }

  #take(path: string): void {
    if (this.result.files.length < this.#limit) this.result.files.push(path);
    else this.#skip(path, "limit", `Not looked at: ${this.#limit} files were looked at already`);
  }

  #skipFailure(path: string, failure: HvError): void {
    this.#skip(path, failure.code === "hv.permission" ? "permission" : "io_error", failure.message);
  }

  #skip(path: string, reason: DumpSkipReason, message: string): void {
    this.result.skipped.push({ path, reason, message });
  }
}
