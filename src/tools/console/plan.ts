/** What a call on a VM's console would do. */

import type { Vm } from "../../contract/vm.ts";
import type { PlannedEffect } from "../tool.ts";

/** A plan that holds as long as the same machine runs. */
export function planOnConsole({ id, state, pid }: Vm, summary: string): Promise<PlannedEffect> {
  return Promise.resolve({ summary, losses: [], fingerprint: { id, state, pid: pid ?? null } });
}
