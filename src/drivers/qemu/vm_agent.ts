/** The guest agent of one VM: where it is reached, and whether anything in the guest listens. */

import type { JsonValue } from "../../base/json.ts";
import type { AgentAddress } from "./agent/link.ts";
import { objectsIn } from "./monitor/answers.ts";
import type { VmMonitor } from "./monitor/vm_monitor.ts";
import type { QemuContext } from "./context.ts";
import { observe } from "./observe.ts";
import type { VmRecord } from "./records.ts";
import { RuntimeFolder } from "./runtime_folder.ts";

/** The label of the agent's port on QEMU's command line. */
const AGENT_CHARDEV = "agent";

/** Where a VM's agent is reached; whether the guest has crashed is seen by a look at the VM. */
export function agentOf(context: QemuContext, record: VmRecord): AgentAddress {
  const runtime = new RuntimeFolder(record.runtime);
  return {
    host: context.host,
    socket: runtime.agent,
    lock: runtime.agentLock,
    isCrashed: async (signal) => {
      const { state, reason } = await observe(context, record, signal);
      return state === "crashed" ? { reason: reason ?? "The guest has crashed" } : undefined;
    },
  };
}

/** Whether something in the guest has opened the agent's port; without that nobody need be waited for. */
export async function hasAgent(monitor: VmMonitor): Promise<boolean> {
  try {
    return holdsAgentPort(await monitor.tell("query-chardev"));
  } catch {
    return false;
  }
}

/** Whether the answer to `query-chardev` says that something in the guest has opened the agent's port. */
export function holdsAgentPort(ports: JsonValue): boolean {
  return objectsIn(ports).some((port) => port.label === AGENT_CHARDEV && port["frontend-open"] === true);
}
