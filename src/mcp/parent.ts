/** Noticing that the program which started us is gone. */

import type { Host } from "../host/host.ts";

const LOOK_MS = 500;

/**
 * Calls `gone` once when the parent process has ended. A grandchild of the host may keep our stdin open after the
 * host has died, so that the end of stdin alone would leave us behind. Windows gives an orphan no new parent; there
 * the end of the pipe has to do. Answers with the way to stop looking.
 */
export function watchParent(
  { machine, clock }: Pick<Host, "machine" | "clock">,
  gone: () => void,
): () => void {
  const parent = machine.parentProcessId();
  const stop = new AbortController();
  const look = async (): Promise<void> => {
    while (machine.parentProcessId() === parent) await clock.sleep(LOOK_MS, stop.signal);
    gone();
  };
  look().catch(() => {});
  return () => stop.abort();
}
