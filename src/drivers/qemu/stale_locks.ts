/** Lock files that killed calls left: of VMs that never came to be, and of disks. */

import { parseVmId } from "../../base/ids.ts";
import { joinPath } from "../../base/paths.ts";
import type { QemuContext } from "./context.ts";

/** Younger ones may be in the hands of a call that has opened its file and not locked it yet. */
const STALE_MS = 60_000;
/** The lock of a disk, which goes with the call that holds it unless that is killed. */
const DISK_LOCK = /^disk-[0-9a-f]{64}\.lock$/;

/** Removes the lock files of disks, and of VMs that are not in `known`, unless somebody holds them. Failures leave them for later. */
export async function removeStaleLocks(
  { host, state }: QemuContext,
  known: ReadonlySet<string>,
): Promise<void> {
  if (await host.files.stat(state.locks) === undefined) return;
  for (const { name } of await host.files.list(state.locks)) {
    if (!DISK_LOCK.test(name)) {
      const id = /^(vm-.*)\.(?:lock|maker)$/.exec(name)?.[1];
      if (id === undefined || parseVmId(id) !== id || known.has(id)) continue;
    }
    const path = joinPath(state.locks, name);
    try {
      const modified = (await host.files.stat(path))?.modified ?? null;
      if (modified === null || host.clock.now() - modified < STALE_MS) continue;
      using lock = await host.locks.tryTake(path);
      if (lock !== undefined) await host.files.remove(path);
    } catch {
      continue;
    }
  }
}
