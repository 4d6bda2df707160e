/** One change of a disk at a time. */

import { HvError } from "../base/errors.ts";
import { sha256Hex } from "../base/json.ts";
import { joinPath } from "../base/paths.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "../state/layout.ts";

/** Where the locks of disks lie. */
export interface DiskLockPlace {
  host: Host;
  state: StateFolder;
}

/** Takes the lock of a disk that is changed or made. Throws `hv.conflict` at once when another call has it. */
export async function takeDiskLock(place: DiskLockPlace, path: string): Promise<AsyncDisposable> {
  const lock = await tryTakeDiskLock(place, path);
  if (lock !== undefined) return lock;
  throw new HvError("hv.conflict", `Another call is at work on the disk "${path}"`, {
    hint: "Wait until it is done",
    context: { path, wanted: "idle", found: "busy" },
    retryable: true,
  });
}

/** Takes a disk's lock when it is free, else answers `undefined` at once. */
export async function tryTakeDiskLock(
  { host, state }: DiskLockPlace,
  path: string,
): Promise<AsyncDisposable | undefined> {
  // Windows takes names for the same in any case.
  const name = host.os === "windows" ? path.toLowerCase() : path;
  const file = joinPath(state.locks, `disk-${await sha256Hex(name)}.lock`);
  const lock = await host.locks.tryTake(file);
  if (lock === undefined) return undefined;
  return {
    async [Symbol.asyncDispose]() {
      try {
        await host.files.remove(file);
      } finally {
        lock.release();
      }
    },
  };
}
