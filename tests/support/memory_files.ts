/** A small file system in memory for what finding dumps needs: folders, files, links, refusals, files that change. */

import { HvError } from "../../src/base/errors.ts";
import { folderOf, nameOf } from "../../src/base/paths.ts";
import type { DumpFiles } from "../../src/debugger/inspect_file.ts";
import type { EntryKind, FileFacts, FolderEntry, RandomAccessFile } from "../../src/host/files.ts";

/** What lies at a path. Folders follow from the paths below them, or are named with `folder`. */
export type MemoryEntry =
  | { bytes: Uint8Array; modified?: number }
  | { link: string }
  | { folder: true }
  | { other: true }
  | { failure: HvError };

/** Files by absolute path. Change `entries` while a test runs to play a writer. */
export class MemoryFiles implements DumpFiles {
  readonly entries: Map<string, MemoryEntry>;
  /** Paths opened, in order. */
  readonly opened: string[] = [];

  constructor(entries: Readonly<Record<string, MemoryEntry>>) {
    this.entries = new Map(Object.entries(entries));
  }

  stat(path: string, { follow = false }: { follow?: boolean } = {}): Promise<FileFacts | undefined> {
    return this.#try(() => {
      const target = this.#resolve(path, follow);
      const entry = this.#look(target);
      if (entry === undefined) return undefined;
      const file = "bytes" in entry ? entry : undefined;
      return {
        kind: kindOf(entry),
        size_bytes: file?.bytes.length ?? 0,
        allocated_bytes: null,
        modified: file === undefined ? null : file.modified ?? 0,
        owner: null,
        mode: null,
      };
    });
  }

  list(folder: string): Promise<FolderEntry[]> {
    return this.#try(() => {
      const target = this.#resolve(folder, true);
      const failing = this.entries.get(target);
      if (failing !== undefined && "failure" in failing) throw failing.failure;
      const names = new Map<string, FolderEntry>();
      for (const [path, entry] of this.entries) {
        if (folderOf(path) === target) names.set(nameOf(path), { name: nameOf(path), kind: kindOf(entry) });
        else if (path.startsWith(`${target}/`)) {
          const name = path.slice(target.length + 1).split("/")[0] ?? "";
          if (!names.has(name)) names.set(name, { name, kind: "folder" });
        }
      }
      return [...names.values()];
    });
  }

  realPath(path: string): Promise<string> {
    return this.#try(() => this.#resolve(path, true));
  }

  open(path: string): RandomAccessFile {
    this.opened.push(path);
    const entry = this.#look(this.#resolve(path, true));
    if (entry === undefined || !("bytes" in entry)) throw new Error(`opened ${path}, which is no file`);
    const { bytes } = entry;
    return {
      size: bytes.length,
      read: (offset, length) => bytes.slice(offset, offset + length),
      close() {},
      [Symbol.dispose]() {},
    };
  }

  #look(path: string): MemoryEntry | undefined {
    const entry = this.entries.get(path);
    if (entry !== undefined && "failure" in entry) throw entry.failure;
    if (entry !== undefined) return entry;
    const isFolder = [...this.entries.keys()].some((each) => each.startsWith(`${path}/`));
    return isFolder ? { folder: true } : undefined;
  }

  /** Follows the links of a path, in its folders always and at its end when asked. */
  #resolve(path: string, follow: boolean): string {
    let resolved = "";
    const names = path.split("/").slice(1);
    names.forEach((name, index) => {
      resolved += `/${name}`;
      for (let links = 0; links < 40; links++) {
        const entry = this.entries.get(resolved);
        const last = index === names.length - 1;
        if (entry === undefined || !("link" in entry) || (last && !follow)) return;
        resolved = entry.link;
      }
    });
    return resolved;
  }

  #try<Value>(action: () => Value): Promise<Value> {
    return new Promise((resolve) => resolve(action()));
  }
}

function kindOf(entry: MemoryEntry): EntryKind {
  if ("bytes" in entry) return "file";
  if ("link" in entry) return "link";
  return "folder" in entry || "failure" in entry ? "folder" : "other";
}
