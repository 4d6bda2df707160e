/**
 * A host whose locks keep others from the content of a locked file, also its holder through another handle, as those of
 * Windows do (LockFileEx, "Remarks"). Those of Linux and of Wine do not.
 */

import { HvError } from "../../src/base/errors.ts";
import type { Files } from "../../src/host/files.ts";
import type { Host } from "../../src/host/host.ts";
import type { Lock, Locks } from "../../src/host/locks.ts";

export function withMandatoryLocks(real: Host): Host {
  const locked = new Map<string, number>();
  const count = (path: string, change: number): number => {
    const now = (locked.get(path) ?? 0) + change;
    locked.set(path, now);
    return now;
  };
  const watched = (path: string, lock: Lock): Lock => {
    count(path, 1);
    let isHeld = true;
    const release = (): void => {
      if (isHeld) count(path, -1);
      isHeld = false;
      lock.release();
    };
    return {
      release,
      [Symbol.dispose]: release,
      readText: () => lock.readText(),
      writeText: (text) => lock.writeText(text),
    };
  };
  const refuseLocked = (path: string): void => {
    if ((locked.get(path) ?? 0) === 0) return;
    throw new HvError("hv.io", `Cannot use "${path}": another handle has locked a part of the file`);
  };
  const { files } = real;
  const guarded: Pick<Files, "create" | "open" | "readText" | "readTextIfPresent"> = {
    async create(path, options) {
      refuseLocked(path);
      return await files.create(path, options);
    },
    open(path) {
      refuseLocked(path);
      return files.open(path);
    },
    async readText(path) {
      refuseLocked(path);
      return await files.readText(path);
    },
    async readTextIfPresent(path) {
      refuseLocked(path);
      return await files.readTextIfPresent(path);
    },
  };
  const locks: Locks = {
    async tryTake(path, options) {
      const lock = await real.locks.tryTake(path, options);
      return lock === undefined ? undefined : watched(path, lock);
    },
    take: async (path, signal, options) => watched(path, await real.locks.take(path, signal, options)),
    share: async (path, signal) => watched(path, await real.locks.share(path, signal)),
  };
  return { ...real, files: { ...files, ...guarded }, locks };
}
