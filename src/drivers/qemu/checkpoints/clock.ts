/** The clock of a guest that was brought back from the past. */

import type { QemuContext } from "../context.ts";
import { AgentLink } from "../agent_link.ts";
import type { VmRecord } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";

/** A guest that has an agent answers within this time after a restore, on a busy host too. */
const PATIENCE_MS = 1_500;
const NANOSECONDS = 1_000_000;

/**
 * Tells the guest what time it is. A guest without an agent, or one that refuses, keeps its clock: the restore is
 * good all the same. The agent sets the clock first and then the hardware's through a program that may be missing,
 * so even its refusal may come from a guest whose clock is right.
 */
export async function setGuestClock(
  context: QemuContext,
  record: Pick<VmRecord, "id" | "runtime">,
  signal: AbortSignal,
): Promise<void> {
  const { host } = context;
  const { agent, agentLock } = new RuntimeFolder(record.runtime);
  if (await host.files.stat(agent) === undefined) return;
  const link = new AgentLink({
    host,
    socket: agent,
    lock: agentLock,
    isCrashed: () => Promise.resolve(undefined),
  });
  const limits = { signal, patienceMs: PATIENCE_MS, limitMs: PATIENCE_MS };
  try {
    await link.connect(signal, PATIENCE_MS);
    const time = host.clock.now() * NANOSECONDS;
    await link.ask([{ name: "guest-set-time", arguments: { time } }], limits);
  } catch {
    signal.throwIfAborted();
  } finally {
    link.close();
  }
}
