/** Whether a guest has fallen silent, asked of its agent: a kernel that stands still after its panic answers nothing. */

import { openAgentChannel } from "../agent/channel.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import type { VmRecord } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";

/** A guest that lives answers within moments. */
const SILENCE_MS = 3_000;

/** True as well for a guest that has no agent. */
export async function isGuestSilent(context: QemuContext, record: VmRecord): Promise<boolean> {
  const runtime = new RuntimeFolder(record.runtime);
  const channel = openAgentChannel({
    host: context.host,
    socket: runtime.agent,
    lock: runtime.agentLock,
    async isCrashed(signal) {
      const { state, reason = "The guest has crashed" } = await observe(context, record, signal);
      return state === "crashed" ? { reason } : undefined;
    },
  });
  try {
    await channel.ping(AbortSignal.timeout(SILENCE_MS));
    return false;
  } catch {
    return true;
  } finally {
    channel.close();
  }
}
