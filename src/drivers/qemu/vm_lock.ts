/** The lock under which one VM is started, powered off or removed, with a note of what its holder is doing. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import type { Lock } from "../../host/locks.ts";
import type { QemuContext } from "./context.ts";

/** What a holder does with the VM, as others see it. */
export type LockedWork = "starting" | "stopping" | "removing" | "making";

/** The lock's file. It is apart from the VM's folder, which may be renamed or go away under the lock. */
export function lockPath(context: QemuContext, id: string): string {
  return joinPath(context.state.locks, `${id}.lock`);
}

/** The file that a sandbox's maker keeps locked as long as it lives. */
export function makerLockPath(context: QemuContext, id: string): string {
  return joinPath(context.state.locks, `${id}.maker`);
}

/** Takes the VM's lock, or throws `hv.conflict` at once with what its holder is doing. */
export async function takeVmLock(
  context: QemuContext,
  id: string,
  work: LockedWork,
  wanted: string,
): Promise<Lock> {
  const path = lockPath(context, id);
  const lock = await context.host.locks.tryTake(path);
  if (lock !== undefined) {
    await note(context, path, work);
    return lock;
  }
  const found = (await context.host.files.readTextIfPresent(path))?.trim() || "busy";
  throw new HvError(
    "hv.conflict",
    `Another call is at work on this VM: wanted "${wanted}", found "${found}"`,
    {
      hint: "Wait until it is done, then look at the VM's state",
      context: { vm: id, wanted, found },
      retryable: true,
    },
  );
}

/** Waits for the VM's lock, as long as the signal allows. */
export async function waitForVmLock(
  context: QemuContext,
  id: string,
  work: LockedWork,
  signal: AbortSignal,
): Promise<Lock> {
  const path = lockPath(context, id);
  const lock = await context.host.locks.take(path, signal);
  await note(context, path, work);
  return lock;
}

/** On a full disk the note is missing and nothing else: it only says more to those who find the lock taken. */
async function note({ host }: QemuContext, path: string, work: LockedWork): Promise<void> {
  try {
    using writer = await host.files.create(path, { overwrite: true });
    await writer.write(new TextEncoder().encode(work));
  } catch {
    return;
  }
}
