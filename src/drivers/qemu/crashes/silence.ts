/** Whether a guest has fallen silent, asked of its agent: a kernel that stands still after its panic answers nothing. */

import { openAgentChannel } from "../agent/channel.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";
import { agentOf } from "../vm_agent.ts";

/** A guest that lives answers within moments. */
const SILENCE_MS = 3_000;

/** True as well for a guest that has no agent. */
export async function isGuestSilent(context: QemuContext, record: VmRecord): Promise<boolean> {
  const channel = openAgentChannel(agentOf(context, record));
  try {
    await channel.ping(AbortSignal.timeout(SILENCE_MS));
    return false;
  } catch {
    return true;
  } finally {
    channel.close();
  }
}
