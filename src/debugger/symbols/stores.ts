/** Looks files up in symbol stores on this machine, and fetches what is missing where that is asked for. */

import { HvError, toHvError } from "../../base/errors.ts";
import { joinPath, resolvePath } from "../../base/paths.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { ByteSource } from "../../dump/bytes.ts";
import type { Files, RandomAccessFile } from "../../host/files.ts";
import { openInflater } from "../../host/inflate.ts";
import { unpackCabinet } from "./cabinet.ts";
import type { SymbolDownloads } from "./downloads.ts";
import type { StoreKey } from "./keys.ts";
import { parsePointer, POINTER_BYTES, POINTER_NAME } from "./pointer_file.ts";
import type { SymbolPath } from "./symbol_path.ts";

/** What looking up symbols needs of the host. */
export type SymbolHost = Pick<Files, "stat" | "list" | "realPath" | "open">;

/** Something that was there and could not be used. */
export interface StoreWarning {
  readonly reason: "symbols_mismatch" | "symbols_unreadable" | "symbols_remote" | "symbols_download";
  readonly message: string;
}

const INDEX = "index2.txt";

/** Stores that are searched in order. Files stay open until it is disposed of. */
export class SymbolStores implements Disposable {
  readonly warnings: StoreWarning[] = [];
  readonly #files: SymbolHost;
  readonly #roots: readonly string[];
  readonly #opened: RandomAccessFile[] = [];
  readonly #twoTier = new Map<string, Promise<boolean>>();
  readonly #downloads: SymbolDownloads | null;
  #realRoots: Promise<string[]> | null = null;
  #present: Promise<string[]> | null = null;

  constructor(
    files: SymbolHost,
    { roots, remote, servers }: SymbolPath,
    downloads: SymbolDownloads | null = null,
  ) {
    this.#files = files;
    this.#roots = roots;
    this.#downloads = downloads;
    for (const place of remote) {
      if (downloads !== null && servers.includes(place)) continue;
      const advice = servers.includes(place) ? "give --download to fetch from it" : "only http and https are";
      this.warnings.push({
        reason: "symbols_remote",
        message: `"${visibleText(place)}" was not asked: ${advice}`,
      });
    }
  }

  /**
   * The first file of that name and key that `accept` takes; null when there is none. `accept` gives null for a file
   * of another version and fails for one that it cannot read: both are warnings, and the search goes on.
   */
  async find<Found>(
    wanted: StoreKey,
    accept: (source: ByteSource) => Found | null,
  ): Promise<{ found: Found; path: string } | null> {
    this.#present ??= this.#presentRoots();
    for (const root of await this.#present) {
      for (const path of await this.#places(root, wanted)) {
        const found = await this.#open(path, wanted, accept);
        if (found !== null) return { found, path };
      }
    }
    return this.#downloads === null ? null : await this.#download(this.#downloads, wanted, accept);
  }

  /** What a server gave counts only when it is what was asked for. */
  async #download<Found>(
    downloads: SymbolDownloads,
    wanted: StoreKey,
    accept: (source: ByteSource) => Found | null,
  ): Promise<{ found: Found; path: string } | null> {
    const path = await downloads.fetch(
      wanted,
      (message) => this.warnings.push({ reason: "symbols_download", message }),
    );
    if (path === null) return null;
    const found = await this.#open(path, wanted, accept);
    if (found === null) await downloads.discard(path);
    return found === null ? null : { found, path };
  }

  [Symbol.dispose](): void {
    for (const file of this.#opened.splice(0)) file.close();
  }

  /** The folders that are there; a wish for another one is a slip that its writer wants to hear of. */
  async #presentRoots(): Promise<string[]> {
    const present: string[] = [];
    for (const root of this.#roots) {
      if ((await this.#stat(root))?.kind === "folder") present.push(root);
      else {
        this.warnings.push({
          reason: "symbols_unreadable",
          message: `"${visibleText(root)}" is no folder that can be looked into`,
        });
      }
    }
    return present;
  }

  /** Paths that exist and may be the file: of the store's layouts first, then of plain folders. */
  async #places(root: string, { name, key }: StoreKey): Promise<string[]> {
    const tiers = !name.startsWith(".") && await this.#isTwoTier(root)
      ? [joinPath(root, name.slice(0, 2)), joinPath(root, name.slice(0, 2).toLowerCase())]
      : [];
    const places: string[] = [];
    for (const tier of [root, ...tiers]) {
      for (const folder of new Set([joinPath(tier, name), joinPath(tier, name.toLowerCase())])) {
        const keyed = await this.#entry(folder, key);
        if (keyed === null) continue;
        for (const file of [name, packedName(name)]) {
          const path = await this.#entry(keyed, file);
          if (path !== null) places.push(path);
        }
        const pointer = await this.#entry(keyed, POINTER_NAME);
        const target = pointer === null ? null : await this.#followPointer(pointer, root);
        if (target !== null) places.push(target);
      }
    }
    const extension = name.slice(name.lastIndexOf(".") + 1);
    for (const path of [[name], [extension, name], ["symbols", extension, name]]) {
      const place = joinPath(root, ...path);
      if ((await this.#stat(place))?.kind === "file") places.push(place);
    }
    return [...new Set(places)];
  }

  #isTwoTier(root: string): Promise<boolean> {
    const known = this.#twoTier.get(root) ??
      this.#stat(joinPath(root, INDEX)).then((facts) => facts !== undefined);
    this.#twoTier.set(root, known);
    return known;
  }

  /** The entry of a folder whose name is `name` in any case; null when there is none. */
  async #entry(folder: string, name: string): Promise<string | null> {
    if ((await this.#stat(folder))?.kind !== "folder") return null;
    try {
      const entries = await this.#files.list(folder);
      const entry = entries.find((each) => each.name === name) ??
        entries.find((each) => each.name.toLowerCase() === name.toLowerCase());
      return entry === undefined ? null : joinPath(folder, entry.name);
    } catch (thrown) {
      this.#warn(toHvError(thrown));
      return null;
    }
  }

  async #stat(path: string): Promise<{ kind: string } | undefined> {
    try {
      return await this.#files.stat(path, { follow: true });
    } catch (thrown) {
      this.#warn(toHvError(thrown));
      return undefined;
    }
  }

  /** Where a pointer leads, when that is inside the stores; a note instead of a path leads nowhere. */
  async #followPointer(path: string, root: string): Promise<string | null> {
    using file = this.#files.open(path);
    const named = parsePointer(file.read(0, POINTER_BYTES));
    if (named === null) return null;
    this.#realRoots ??= Promise.all(this.#roots.map((each) => this.#files.realPath(each).catch(() => each)));
    const real = await this.#realRoots;
    const target = resolvePath(real[this.#roots.indexOf(root)] ?? root, named);
    // Asking for a path may already talk to another machine: it is not even looked at unless it is inside.
    if (isInside(target, [...real, ...this.#roots])) {
      if ((await this.#stat(target))?.kind !== "file") return null;
      const followed = await this.#files.realPath(target);
      if (isInside(followed, real)) return followed;
    }
    this.warnings.push({
      reason: "symbols_unreadable",
      message: `"${visibleText(path)}" leads out of the symbol path and was not followed`,
    });
    return null;
  }

  async #open<Found>(
    path: string,
    { name, key }: StoreKey,
    accept: (source: ByteSource) => Found | null,
  ): Promise<Found | null> {
    try {
      const file = this.#files.open(path);
      this.#opened.push(file);
      const source = isCabinet(file) ? unpackCabinet(file, await openInflater()) : file;
      const found = accept(source);
      if (found === null) {
        this.warnings.push({
          reason: "symbols_mismatch",
          message: `"${visibleText(path)}" is another version of ${name}: ${key} is wanted`,
        });
      }
      return found;
    } catch (thrown) {
      const failure = toHvError(thrown);
      if (failure.code === "hv.internal") throw failure;
      this.#warn(failure, path);
      return null;
    }
  }

  #warn(failure: HvError, path?: string): void {
    const message = path === undefined ? failure.message : `${failure.message} ("${path}")`;
    this.warnings.push({ reason: "symbols_unreadable", message: visibleText(message) });
  }
}

function packedName(name: string): string {
  return `${name.slice(0, -1)}_`;
}

const CABINET = "MSCF";

function isCabinet(source: ByteSource): boolean {
  return String.fromCharCode(...source.read(0, 4)) === CABINET;
}

/** Whether a path lies below one of the folders; names on Windows are the same in any case. */
function isInside(path: string, folders: readonly string[]): boolean {
  const form = (text: string) =>
    /^(?:[A-Za-z]:|\\\\)/.test(text) ? text.toLowerCase().replaceAll("/", "\\") : text;
  const wanted = form(path);
  return folders.some((folder) => {
    const start = form(folder).replace(/[\\/]+$/, "");
    return wanted.startsWith(start) && /^[\\/]/.test(wanted.slice(start.length));
  });
}
