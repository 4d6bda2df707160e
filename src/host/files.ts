/** Files and folders. */

import { folderOf } from "../base/paths.ts";
import { systemClock } from "./clock.ts";
import { fileFailure } from "./failures.ts";
import { openPipe, type PipeReader } from "./pipes.ts";

/** What a path names, without following a symbolic link. */
export type EntryKind = "file" | "folder" | "link" | "other";

export interface FolderEntry {
  name: string;
  kind: EntryKind;
}

export interface FileFacts {
  kind: EntryKind;
  size_bytes: number;
  /** Bytes that the file really takes on disk; `null` where the platform does not tell. */
  allocated_bytes: number | null;
  /** Milliseconds since 1970; `null` where the platform does not tell. */
  modified: number | null;
  /** The owner's user id; `null` where the platform has none. */
  owner: number | null;
  /** The permission bits, such as 0o700; `null` where the platform has none. */
  mode: number | null;
}

/** An open file that is read at positions, synchronously: page-wise readers need 2 us a read, not 100. */
export interface RandomAccessFile extends Disposable {
  readonly size: number;
  /** Reads up to `length` bytes at `offset`; fewer come back only at the end of the file. */
  read(offset: number, length: number): Uint8Array;
  close(): void;
}

/** A file being written from start to end. */
export interface FileWriter extends Disposable {
  write(bytes: Uint8Array): Promise<void>;
  /** Goes on behind so many bytes of zeros, which take no room where the file system can leave holes. */
  skip(bytes: number): Promise<void>;
  /** Brings what was written to the disk itself. */
  sync(): Promise<void>;
  close(): void;
}

export interface Files {
  readText(path: string): Promise<string>;
  /** The text, or `undefined` when there is no such file. Every other failure is thrown. */
  readTextIfPresent(path: string): Promise<string | undefined>;
  /** The facts, or `undefined` when nothing is there. `follow` looks through a symbolic link. */
  stat(path: string, options?: { follow?: boolean }): Promise<FileFacts | undefined>;
  list(folder: string): Promise<FolderEntry[]>;
  realPath(path: string): Promise<string>;
  open(path: string): RandomAccessFile;
  /** Opens a named pipe that is there already, without waiting for who writes into it. */
  openPipe(path: string): Promise<PipeReader>;
  /** Opens for writing; an existing file is refused unless `overwrite` is given. */
  create(path: string, options?: { overwrite?: boolean; mode?: number }): Promise<FileWriter>;
  /** Opens a file that is there for writing behind its end. */
  append(path: string): Promise<FileWriter>;
  /** Writes whole or not at all: a temporary file beside the path, brought to disk, then renamed over it. */
  writeAtomically(path: string, text: string): Promise<void>;
  copy(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /**
   * Makes a folder with all above it; one that is there stays. Without `parents` only itself, and throws `hv.not_found`
   * when the one above is gone: for a folder in that of something that can go away meanwhile.
   */
  makeFolder(path: string, options?: { mode?: number; parents?: boolean }): Promise<void>;
  makeReadOnly(path: string): Promise<void>;
  /** Sets permission bits, where the platform has them, and the time of the last change in milliseconds since 1970. */
  setFacts(path: string, facts: { mode?: number; modified: number }): Promise<void>;
  /** Where a symbolic link leads, as it says. */
  readLink(path: string): Promise<string>;
  /** Makes a symbolic link at `path`; what it leads to need not exist. */
  makeLink(path: string, target: string): Promise<void>;
  /** Brings a file that another program wrote to the disk itself. */
  sync(path: string): Promise<void>;
  /** Removes a file or a whole folder; what is not there counts as removed. */
  remove(path: string): Promise<void>;
  /** A new empty folder that the caller removes. */
  makeTemporaryFolder(prefix: string): Promise<string>;
}

export const denoFiles: Files = {
  async readText(path) {
    return await attempt("read", path, () => Deno.readTextFile(path));
  },

  async readTextIfPresent(path) {
    try {
      return await Deno.readTextFile(path);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw fileFailure(error, "read", path);
    }
  },

  async stat(path, { follow = false } = {}) {
    try {
      // At once: the first call that waits starts threads, which takes longer than all that a short command does.
      return await Promise.resolve(factsOf(follow ? Deno.statSync(path) : Deno.lstatSync(path)));
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw fileFailure(error, "look at", path);
    }
  },

  async list(folder) {
    return await attempt("list", folder, async () => {
      const entries: FolderEntry[] = [];
      for await (const entry of Deno.readDir(folder)) {
        entries.push({ name: entry.name, kind: kindOf(entry) });
      }
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  },

  async realPath(path) {
    return await attempt("resolve", path, () => Deno.realPath(path));
  },

  open: openForReading,

  openPipe: (path) => openPipe(path),

  async create(path, { overwrite = false, mode = 0o600 } = {}) {
    const file = await attempt("write", path, () =>
      Deno.open(path, {
        write: true,
        mode,
        ...(overwrite ? { create: true, truncate: true } : { createNew: true }),
      }));
    return writerOf(file, path);
  },

  async append(path) {
    return writerOf(await attempt("write", path, () => Deno.open(path, { append: true })), path);
  },

  async writeAtomically(path, text) {
    const temporary = `${path}.${Deno.pid}.${crypto.randomUUID().slice(0, 8)}.new`;
    await attempt("write", path, async () => {
      try {
        using file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
        await writeAll(file, new TextEncoder().encode(text));
        await file.sync();
        await renameUnhindered(temporary, path);
      } catch (error) {
        await Deno.remove(temporary).catch(() => {});
        throw error;
      }
    });
  },

  async copy(from, to) {
    await attempt("copy", from, () => Deno.copyFile(from, to));
  },

  async rename(from, to) {
    await attempt("rename", from, () => renameUnhindered(from, to));
  },

  async makeFolder(path, { mode = 0o700, parents = true } = {}) {
    await attempt("make the folder", path, async () => {
      try {
        await Deno.mkdir(path, { recursive: parents, mode });
      } catch (error) {
        const isThere = error instanceof Deno.errors.AlreadyExists && (await Deno.stat(path)).isDirectory;
        if (!isThere) throw error;
      }
    });
  },

  async makeReadOnly(path) {
    if (Deno.build.os === "windows") return;
    await attempt("make read-only", path, () => Deno.chmod(path, 0o444));
  },

  async setFacts(path, { mode, modified }) {
    await attempt("set the time of", path, async () => {
      if (mode !== undefined && Deno.build.os !== "windows") Deno.chmodSync(path, mode);
      await Promise.resolve(Deno.utimeSync(path, new Date(modified), new Date(modified)));
    });
  },

  async readLink(path) {
    return await attempt("read the link", path, () => Deno.readLink(path));
  },

  async makeLink(path, target) {
    await attempt("link", path, () => Deno.symlink(target, path));
  },

  async sync(path) {
    await attempt("write", path, async () => {
      using file = await Deno.open(path, { read: true });
      await file.sync();
    });
  },

  async remove(path) {
    for (let turn = 1;; turn++) {
      try {
        return await Deno.remove(path, { recursive: true });
      } catch (error) {
        if (isAbsent(error)) return;
        if (turn === REMOVE_TURNS || !isFilledAgain(error)) throw fileFailure(error, "remove", path);
      }
    }
  },

  async makeTemporaryFolder(prefix) {
    return await attempt("make a folder in", folderOf(prefix), () => Deno.makeTempDir({ prefix }));
  },
};

async function attempt<T>(action: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileFailure(error, action, path);
  }
}

const HINDRANCES = 40;
const HINDRANCE_MS = 50;

/**
 * On Windows a virus scanner or an indexer has new files open for a moment: a rename meanwhile is denied (5) or a sharing
 * violation (32), and is tried again.
 */
async function renameUnhindered(from: string, to: string): Promise<void> {
  for (let left = Deno.build.os === "windows" ? HINDRANCES : 0;; left--) {
    try {
      return await Deno.rename(from, to);
    } catch (error) {
      const isHindered = error instanceof Error && /\(os error (?:5|32)\)/.test(error.message);
      if (left === 0 || !isHindered) throw error;
      await systemClock.sleep(HINDRANCE_MS);
    }
  }
}

/** A folder is emptied first and removed then: who puts a file in between, as a lock does, is met in the next turn. */
const REMOVE_TURNS = 20;

/** ENOTEMPTY on Linux, on macOS and on Windows; it has no class of its own. */
function isFilledAgain(error: unknown): boolean {
  return error instanceof Error && /\(os error (?:39|66|145)\)/.test(error.message);
}

/** A parent that is a file (ENOTDIR, os error 20) means absence just as a missing parent does. */
function isAbsent(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

function kindOf(entry: { isFile: boolean; isDirectory: boolean; isSymlink: boolean }): EntryKind {
  if (entry.isSymlink) return "link";
  if (entry.isDirectory) return "folder";
  return entry.isFile ? "file" : "other";
}

const STAT_BLOCK_BYTES = 512;

function factsOf(info: Deno.FileInfo): FileFacts {
  return {
    kind: kindOf(info),
    size_bytes: info.size,
    allocated_bytes: info.blocks === null ? null : info.blocks * STAT_BLOCK_BYTES,
    modified: info.mtime?.getTime() ?? null,
    owner: info.uid,
    // Deno makes bits up on Windows: 0o666 for every file that is not read-only (measured on Deno 2.9.6).
    mode: info.mode === null || Deno.build.os === "windows" ? null : info.mode & 0o777,
  };
}

function openForReading(path: string): RandomAccessFile {
  try {
    const file = Deno.openSync(path, { read: true });
    const size = file.statSync().size;
    const close = (): void => file.close();
    return {
      size,
      read: (offset, length) => readAt(file, path, offset, length),
      close,
      [Symbol.dispose]: close,
    };
  } catch (error) {
    throw fileFailure(error, "open", path);
  }
}

function readAt(file: Deno.FsFile, path: string, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  try {
    file.seekSync(offset, Deno.SeekMode.Start);
    let filled = 0;
    while (filled < length) {
      const count = file.readSync(bytes.subarray(filled));
      if (count === null) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } catch (error) {
    throw fileFailure(error, "read", path);
  }
}

function writerOf(file: Deno.FsFile, path: string): FileWriter {
  let open = true;
  const close = (): void => {
    if (open) file.close();
    open = false;
  };
  return {
    write: (bytes) => attempt("write", path, () => writeAll(file, bytes)),
    skip: (bytes) =>
      attempt("write", path, async () => {
        // Without the new length a hole at the end of the file would be lost.
        await file.truncate(await file.seek(bytes, Deno.SeekMode.Current));
      }),
    sync: () => attempt("write", path, () => file.sync()),
    close,
    [Symbol.dispose]: close,
  };
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) written += await file.write(bytes.subarray(written));
}
