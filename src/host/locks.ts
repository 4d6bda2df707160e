/** Locks between processes, kept by the kernel on files: they end with the process that holds them. */

import { folderOf } from "../base/paths.ts";
import type { Clock } from "../base/clock.ts";
import { fileFailure, isReadOnlyDisk } from "./failures.ts";

/**
 * A held lock; `using` gives it back. Its file may say something, which is read and written through the lock: on Windows
 * nobody else can, not even its holder through another handle (LockFileEx, "Remarks").
 */
export interface Lock extends Disposable {
  /** Gives the lock back; a second call does nothing. */
  release(): void;
  /** What the file says, from this holder or from one before. */
  readText(): string;
  /** Replaces what the file says. Throws `hv.io` when the disk is full. */
  writeText(text: string): void;
}

export interface LockOptions {
  /**
   * Throws `hv.not_found` when the lock's folder is not there, instead of making it: for a lock that lies in the
   * folder of something that can go away meanwhile, which must not come back as an empty folder.
   */
  folderMustExist?: boolean;
  /** For who only looks whether somebody holds the lock: others who look are not taken for a holder. */
  onlyLooks?: boolean;
}

export interface Locks {
  /** Takes the lock, or answers `undefined` at once when another process or call holds it. */
  tryTake(path: string, options?: LockOptions): Promise<Lock | undefined>;
  /** Waits until the lock is free; rejects with the signal's reason when that aborts first. */
  take(path: string, signal?: AbortSignal, options?: LockOptions): Promise<Lock>;
  /** Like `take`, for a holder who lets others share the lock and only keeps away those who want it alone. */
  share(path: string, signal?: AbortSignal): Promise<Lock>;
}

/** Between two looks at a taken lock: long enough to cost nothing, short beside any VM operation. */
const LOOK_AGAIN_MS = 5;

export class FileLocks implements Locks {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tryTake(path: string, options?: LockOptions): Promise<Lock | undefined> {
    return this.#try(path, options?.onlyLooks !== true, options);
  }

  async take(path: string, signal?: AbortSignal, options?: LockOptions): Promise<Lock> {
    return await this.#wait(path, true, signal, options);
  }

  async share(path: string, signal?: AbortSignal): Promise<Lock> {
    return await this.#wait(path, false, signal);
  }

  async #try(
    path: string,
    exclusive: boolean,
    { folderMustExist = false }: LockOptions = {},
  ): Promise<Lock | undefined> {
    try {
      if (!folderMustExist) await Deno.mkdir(folderOf(path), { recursive: true, mode: 0o700 });
      for (;;) {
        const file = await openLockFile(path);
        const isOurs = await file.tryLock(exclusive);
        // A holder may have removed the file since we opened it; whoever comes next would then lock another one.
        if (isOurs && isInPlace(file, path)) return heldLock(file, path);
        file.close();
        if (!isOurs) return undefined;
      }
    } catch (error) {
      throw fileFailure(error, "lock", path);
    }
  }

  async #wait(
    path: string,
    exclusive: boolean,
    signal: AbortSignal | undefined,
    options?: LockOptions,
  ): Promise<Lock> {
    for (;;) {
      const lock = await this.#try(path, exclusive, options);
      if (lock !== undefined) return lock;
      await this.#clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }
}

/** On Windows Deno makes null of a removed file's 0 links, so there the path itself must lead to what is held. */
function isInPlace(file: Deno.FsFile, path: string): boolean {
  const { nlink, dev, ino } = file.statSync();
  if (Deno.build.os !== "windows") return nlink !== 0;
  try {
    const named = Deno.statSync(path);
    return named.dev === dev && named.ino === ino;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The kernel's lock needs no right to write: on a disk that became read-only what frees something still works. */
async function openLockFile(path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path, { create: true, read: true, write: true, mode: 0o600 });
  } catch (error) {
    if (!isReadOnlyDisk(error)) throw error;
    return await Deno.open(path, { read: true }).catch(() => Promise.reject(error));
  }
}

function heldLock(file: Deno.FsFile, path: string): Lock {
  let held = true;
  const release = (): void => {
    if (!held) return;
    held = false;
    file.close();
  };
  return {
    release,
    [Symbol.dispose]: release,
    readText: () => attempt("read", path, () => readWhole(file)),
    writeText: (text) => attempt("write", path, () => writeWhole(file, text)),
  };
}

function readWhole(file: Deno.FsFile): string {
  file.seekSync(0, Deno.SeekMode.Start);
  const bytes = new Uint8Array(file.statSync().size);
  let at = 0;
  for (let count: number | null = 0; count !== null && at < bytes.length; at += count ?? 0) {
    count = file.readSync(bytes.subarray(at));
  }
  return new TextDecoder().decode(bytes.subarray(0, at));
}

function writeWhole(file: Deno.FsFile, text: string): void {
  file.truncateSync(0);
  file.seekSync(0, Deno.SeekMode.Start);
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

function attempt<T>(action: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fileFailure(error, action, path);
  }
}
