/** The link to a clone's agent while its guest is woken. */

import { linkFor } from "../agent/channel.ts";
import type { AgentLink } from "../agent/link.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import type { VmRecord } from "../records.ts";
import { agentOf } from "../vm_agent.ts";

/** Where a clone is on its way: its start holds the monitor and sees a crash by itself. */
export type WakingPhase = "starting" | "waking" | "awake";

/**
 * A guest that is being woken is waited for without a limit, so the end of its QEMU counts as its crash. The link stays that of
 * the VM; once its guest is awake, only a crash is one.
 */
export function openWakingLink(
  context: QemuContext,
  record: VmRecord,
  phase: () => WakingPhase,
): AgentLink {
  const address = agentOf(context, record);
  return linkFor({
    ...address,
    async isCrashed(signal) {
      if (phase() === "starting") return undefined;
      if (phase() === "awake") return await address.isCrashed(signal);
      const { alive, state, reason } = await observe(context, record, signal);
      if (!alive) return { reason: "Its QEMU has ended" };
      return state === "crashed" ? { reason: reason ?? "The guest has crashed" } : undefined;
    },
  });
}
