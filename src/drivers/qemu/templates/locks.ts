/** The locks around templates: who makes or removes one, who uses one, and how many machines start at a time. */

import { joinPath } from "../../../base/paths.ts";
import type { Lock } from "../../../host/locks.ts";
import type { QemuContext } from "../context.ts";

/** Held by who makes or removes templates of an image. */
export async function takeMakerLock(
  { host, state }: QemuContext,
  image: string,
  signal: AbortSignal,
): Promise<Lock> {
  return await host.locks.take(joinPath(state.locks, `template-${image}.lock`), signal);
}

/** Held by all who start from templates of an image, from their choice until their record names the template. */
export async function shareUse(
  { host, state }: QemuContext,
  image: string,
  signal: AbortSignal,
): Promise<Lock> {
  return await host.locks.share(useLock(state, image), signal);
}

/** Waits until nobody is between choosing a template of the image and writing it down. */
export async function excludeUse(
  { host, state }: QemuContext,
  image: string,
  signal: AbortSignal,
): Promise<Lock> {
  return await host.locks.take(useLock(state, image), signal);
}

function useLock(state: QemuContext["state"], image: string): string {
  return joinPath(state.locks, `template-${image}.use`);
}

const LOOK_AGAIN_MS = 5;

/**
 * One of the places for machines that are starting: one more than the host has processors. With all at once nobody
 * is done before nearly everybody is (20 clones on 2 processors: first after 2.1 s instead of 0.3 s, last alike).
 */
export async function takeStartSlot({ host, state }: QemuContext, signal: AbortSignal): Promise<Lock> {
  const slots = host.machine.processors() + 1;
  for (let turn = Math.floor(Math.random() * slots);; turn++) {
    signal.throwIfAborted();
    const lock = await host.locks.tryTake(joinPath(state.locks, `start-${turn % slots}.lock`));
    if (lock !== undefined) return lock;
    if (turn % slots === slots - 1) await host.clock.sleep(LOOK_AGAIN_MS, signal);
  }
}
