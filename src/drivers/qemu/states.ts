/** From QEMU's run states to ours. */

import type { VmState } from "../../contract/vm.ts";

/** A VM's state and, where it needs one, the reason. */
export interface SeenState {
  state: VmState;
  reason?: string;
}

const PLAIN: Readonly<Record<string, VmState>> = {
  "running": "running",
  "paused": "paused",
  "debug": "paused",
  "suspended": "paused",
  "postmigrate": "paused",
  "colo": "running",
  "prelaunch": "starting",
  "inmigrate": "starting",
  "restore-vm": "starting",
  "save-vm": "saving",
  "finish-migrate": "saving",
  "shutdown": "stopping",
};

const WITH_REASON: Readonly<Record<string, SeenState>> = {
  "guest-panicked": { state: "crashed", reason: "The guest reported that its kernel crashed" },
  "internal-error": { state: "crashed", reason: "QEMU or the host's KVM cannot run this guest any further" },
  "io-error": { state: "io_error", reason: "A disk of the VM failed to read or write" },
  "watchdog": { state: "paused", reason: "The guest's watchdog has run out" },
};

/** What explains a run state: a write that failed for lack of space, the bug check with which Windows crashed. */
export interface Explanations {
  diskFull?: boolean;
  bugCheck?: string;
}

/** What QEMU's `query-status` says, as one of our states. */
export function stateOf(status: string, { diskFull = false, bugCheck }: Explanations = {}): SeenState {
  if (status === "io-error" && diskFull) return { state: "io_error", reason: "The host's disk is full" };
  if (status === "guest-panicked" && bugCheck !== undefined) {
    return { state: "crashed", reason: `Windows reported the bug check ${bugCheck}` };
  }
  const plain = PLAIN[status];
  if (plain !== undefined) return { state: plain };
  return WITH_REASON[status] ??
    { state: "unknown", reason: `QEMU reports a run state that hvlab does not know: "${status}"` };
}
