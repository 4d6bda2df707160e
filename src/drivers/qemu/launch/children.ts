/** Machines that this very process started: their end has to be taken note of here, or they stay as zombies. */

import type { Host } from "../../../host/host.ts";
import type { ChildProcess } from "../../../host/spawn.ts";
import { settlesWithin } from "../patience.ts";

/** The system tells a process of its child's end within milliseconds. */
const NOTICE_LIMIT_MS = 1_000;

const children = new WeakMap<Host, Map<string, Promise<unknown>>>();

/** Keeps in mind that this process started the VM's QEMU. */
export function rememberChild(host: Host, id: string, child: ChildProcess): void {
  const known = children.get(host) ?? new Map<string, Promise<unknown>>();
  children.set(host, known);
  const ended = child.ended.then(() => {
    if (known.get(id) === ended) known.delete(id);
  });
  known.set(id, ended);
}

/** Waits a moment until the end of a VM's QEMU, which has been seen to be gone, is noticed; others end elsewhere. */
export async function noticeEnd(host: Host, id: string): Promise<void> {
  const ended = children.get(host)?.get(id);
  if (ended !== undefined) await settlesWithin(host.clock, ended, NOTICE_LIMIT_MS);
}

/**
 * Ends a process that we started ourselves a moment ago, so that its pid cannot be anybody else's: by one signal after the
 * other, each with the milliseconds that it is given.
 */
export async function endChild(
  host: Host,
  child: ChildProcess,
  signals: readonly (readonly ["TERM" | "KILL", number])[],
): Promise<void> {
  if (await settlesWithin(host.clock, child.ended, 0)) return;
  for (const [signal, limitMs] of signals) {
    await host.processes.kill(child.pid, signal);
    if (await settlesWithin(host.clock, child.ended, limitMs)) return;
  }
}
