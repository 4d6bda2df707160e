/** What belongs to something that was left behind: its paths, its process, its lock. */

import type { QemuContext } from "../context.ts";
import type { QemuProcess } from "../identity.ts";
import { filesUnder } from "../removal.ts";
import { lockPath } from "../vm_lock.ts";

/** The paths that exist, and what all files in them take on disk. */
export async function belongings(
  context: QemuContext,
  candidates: readonly string[],
): Promise<{ paths: string[]; size_bytes: number }> {
  const paths: string[] = [];
  let size = 0;
  for (const path of candidates) {
    const facts = await context.host.files.stat(path);
    if (facts === undefined) continue;
    paths.push(path);
    for (const file of await filesUnder(context, path)) size += file.size_bytes;
  }
  return { paths, size_bytes: size };
}

/** The process of a VM, as a field of an orphan. */
export function pidOf(processes: readonly QemuProcess[], id: string): { pid?: number } {
  const pid = processes.find((process) => process.id === id)?.pid;
  return pid === undefined ? {} : { pid };
}

/** Whether some call is at work on a VM. */
export async function isLocked(context: QemuContext, id: string): Promise<boolean> {
  if (await context.host.files.stat(lockPath(context, id)) === undefined) return false;
  using lock = await context.host.locks.tryTake(lockPath(context, id), { onlyLooks: true });
  return lock === undefined;
}
