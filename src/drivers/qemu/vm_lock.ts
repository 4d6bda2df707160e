/** The lock under which one VM is started, powered off or removed, with a note of what its holder is doing. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import type { Host } from "../../host/host.ts";
import type { Lock } from "../../host/locks.ts";
import type { QemuContext } from "./context.ts";

/** What a holder does with the VM, as others see it. */
export type LockedWork =
  | "starting"
  | "stopping"
  | "removing"
  | "making"
  | "saving"
  | "pausing"
  | "resuming"
  | "checkpointing"
  | "restoring"
  | "configuring"
  | "copying"
  | "dumping"
  | "adopting";

const NOTE_LIMIT_MS = 100;
const NOTE_LOOK_MS = 2;

/** The lock's file. It is apart from the VM's folder, which may be renamed or go away under the lock. */
export function lockPath(context: Pick<QemuContext, "state">, id: string): string {
  return joinPath(context.state.locks, `${id}.lock`);
}

/** The file that a sandbox's maker keeps locked as long as it lives. */
export function makerLockPath(context: QemuContext, id: string): string {
  return joinPath(context.state.locks, `${id}.maker`);
}

/** A VM's lock, held. It is given back with its note cleared, or with its file removed. */
export class VmLock implements AsyncDisposable {
  readonly #host: Host;
  readonly #path: string;
  readonly #lock: Lock;
  #isLast = false;

  constructor(host: Host, path: string, lock: Lock) {
    this.#host = host;
    this.#path = path;
    this.#lock = lock;
  }

  /** The VM is gone: the lock's file goes with it. Ids are never used again, so nobody can wait for it in earnest. */
  endWithVm(): void {
    this.#isLast = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (this.#isLast) await this.#host.files.remove(this.#path);
      else note(this.#lock, "");
    } finally {
      this.#lock.release();
    }
  }
}

/** Takes the VM's lock when it is free, else answers `undefined` at once. */
export async function tryTakeVmLock(
  { host, state }: QemuContext,
  id: string,
  work: LockedWork,
): Promise<VmLock | undefined> {
  const path = lockPath({ state }, id);
  const lock = await host.locks.tryTake(path);
  if (lock === undefined) return undefined;
  note(lock, work);
  return new VmLock(host, path, lock);
}

/** Takes the VM's lock, or throws `hv.conflict` at once with what its holder is doing. */
export async function takeVmLock(
  context: QemuContext,
  id: string,
  work: LockedWork,
  wanted: string,
): Promise<VmLock> {
  const { host } = context;
  const end = host.clock.monotonic() + NOTE_LIMIT_MS;
  let found: string | undefined;
  while (found === undefined) {
    const lock = await tryTakeVmLock(context, id, work);
    if (lock !== undefined) return lock;
    // Who holds it without a word has just taken it, or only looks whether anybody does.
    found = await noteOnVmLock(context, id);
    if (found === undefined && host.clock.monotonic() >= end) found = "busy";
    if (found === undefined) await host.clock.sleep(NOTE_LOOK_MS);
  }
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
): Promise<VmLock> {
  const { host } = context;
  const path = lockPath(context, id);
  const lock = await host.locks.take(path, signal);
  note(lock, work);
  return new VmLock(host, path, lock);
}

/** What another call is doing with the VM right now; `undefined` when none is. Makes no file. */
export async function workOn({ host, state }: QemuContext, id: string): Promise<string | undefined> {
  const path = lockPath({ state }, id);
  if (await host.files.stat(path) === undefined) return undefined;
  using lock = await host.locks.tryTake(path, { onlyLooks: true });
  return lock === undefined ? await readNote(host, path) : undefined;
}

/**
 * What the lock's file says that a call is doing with the VM; `undefined` when it says nothing. For who only wants to
 * explain something: it never takes the lock, and a note can be left over from a call that was killed.
 */
export async function noteOnVmLock(
  { host, state }: QemuContext,
  id: string,
): Promise<string | undefined> {
  return await noteIn(host, lockPath({ state }, id));
}

/** What the holder noted; it does so right after taking the lock, so an empty file is looked at again. */
async function readNote(host: Host, path: string): Promise<string> {
  const end = host.clock.monotonic() + NOTE_LIMIT_MS;
  for (;;) {
    const text = await noteIn(host, path);
    if (text !== undefined) return text;
    if (host.clock.monotonic() >= end) return "busy";
    await host.clock.sleep(NOTE_LOOK_MS);
  }
}

/** Windows lets nobody read what is locked; a note only says more to those who find the lock taken. */
async function noteIn({ files }: Host, path: string): Promise<string | undefined> {
  try {
    return await files.readTextIfPresent(path) || undefined;
  } catch (error) {
    if (error instanceof HvError) return undefined;
    throw error;
  }
}

/** On a full disk the note is missing and nothing else. */
function note(lock: Lock, text: LockedWork | ""): void {
  try {
    lock.writeText(text);
  } catch (error) {
    if (!(error instanceof HvError)) throw error;
  }
}
