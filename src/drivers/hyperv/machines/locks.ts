/** Locks of one VM, which all hvlabs of a state folder share. */

import { joinPath } from "../../../base/paths.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { HyperV } from "../client.ts";

/** What one call at a time does to a VM. */
const LOCKED = ["notes", "checkpoints"] as const;
type Locked = typeof LOCKED[number];

/** Waits for a VM's lock until the signal ends. */
export function takeVmLock(
  { host }: HyperV,
  state: StateFolder,
  id: string,
  locked: Locked,
  signal: AbortSignal,
): Promise<Disposable> {
  return host.locks.take(lockPath(state, id, locked), signal);
}

/** The locks' files go with their VM; one that cannot go now hurts nobody. */
export async function endVmLocks({ host }: HyperV, state: StateFolder, id: string): Promise<void> {
  for (const locked of LOCKED) {
    const path = lockPath(state, id, locked);
    try {
      using lock = await host.locks.tryTake(path);
      if (lock !== undefined) await host.files.remove(path);
    } catch {
      continue;
    }
  }
}

function lockPath(state: StateFolder, id: string, locked: Locked): string {
  return joinPath(state.locks, `${id}.${locked}.lock`);
}
