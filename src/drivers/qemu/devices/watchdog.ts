/**
 * A machine's watchdog, a card of Intel's 6300ESB, and what QEMU does when the guest has stopped feeding it. Names:
 * QEMU's manual, option `-action`, and its QMP reference, `WatchdogAction`.
 */

import type { JsonValue } from "../../../base/json.ts";
import type { WatchdogAction } from "../../../contract/device.ts";

/** The name of a machine's watchdog. */
export const WATCHDOG = "watchdog-0";

/** Our words for the actions in QEMU's. */
const WORDS: Readonly<Record<WatchdogAction, string>> = {
  reset: "reset",
  pause: "pause",
  off: "poweroff",
  nmi: "inject-nmi",
};

/** The words that give a machine a watchdog. */
export function watchdogArguments(action: WatchdogAction): string[] {
  return ["-device", `i6300esb,id=${WATCHDOG}`, "-action", `watchdog=${WORDS[action]}`];
}

/** What QEMU says that it does, in our words where we have one. */
export function readWatchdogAction(said: JsonValue | undefined): JsonValue {
  const [action] = Object.entries(WORDS).find(([, word]) => word === said) ?? [];
  return action ?? said ?? null;
}
