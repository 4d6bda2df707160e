/** The clock of a guest that was brought back from the past. */

import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { linkFor } from "../agent/channel.ts";
import type { AgentAnswer } from "../agent/protocol.ts";
import type { VmRecord } from "../records.ts";
import { agentOf, hasAgent } from "../vm_agent.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";

/** A guest that has an agent answers within this time after a restore, on a busy host too. */
const PATIENCE_MS = 1_500;
const NANOSECONDS = 1_000_000;
/** What a guest that shows the right time may be off, with a busy host between the question and the answer. */
const SAME_TIME_MS = 1_000;

/**
 * Tells the guest what time it is, and the scope how far it was off. A guest without an agent, or one that refuses,
 * keeps its clock: the restore is good all the same. The agent sets the clock first and then the hardware's through a
 * program that may be missing, so even its refusal may come from a guest whose clock is right.
 */
export async function setGuestClock(
  context: QemuContext,
  record: VmRecord,
  { signal, guestClock }: CallScope,
): Promise<void> {
  const { host } = context;
  if (!await hasAgent(new VmMonitor(context, record))) return;
  // The connection stays for whoever uses the guest next, since the agent takes a pause after each.
  const link = linkFor(agentOf(context, record));
  const limits = { signal, patienceMs: PATIENCE_MS, limitMs: PATIENCE_MS };
  try {
    await link.connect(signal, PATIENCE_MS);
    const now = host.clock.now();
    const [before, _, after] = await link.ask([
      { name: "guest-get-time" },
      { name: "guest-set-time", arguments: { time: now * NANOSECONDS } },
      { name: "guest-get-time" },
    ], limits);
    const [was, is] = [millisecondsIn(before), millisecondsIn(after)];
    if (was === undefined || is === undefined) return;
    guestClock?.({ skew_ms: Math.round(now - was), set: Math.abs(host.clock.now() - is) < SAME_TIME_MS });
  } catch {
    signal.throwIfAborted();
  }
}

function millisecondsIn(answer: AgentAnswer): number | undefined {
  return answer.ok && typeof answer.value === "number" ? answer.value / NANOSECONDS : undefined;
}
