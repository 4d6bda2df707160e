/** The addresses that a guest's cards have, as its agent says. */

import { isPlainObject } from "../../../base/json.ts";
import type { NicAddress } from "../../../contract/network.ts";
import { linkFor } from "../agent/channel.ts";
import { objectsIn, textIn } from "../monitor/answers.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";
import { agentOf, hasAgent } from "../vm_agent.ts";

/** An agent that is up answers within milliseconds, on a busy host within a second. */
const LIMIT_MS = 2_000;

/** Addresses by the cards' MAC addresses; `undefined` when no agent tells. */
export async function readAddresses(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<Map<string, NicAddress[]> | undefined> {
  const { host } = context;
  if (!await hasAgent(new VmMonitor(context, record))) return undefined;
  const link = linkFor(agentOf(context, record));
  try {
    const limits = { signal, patienceMs: LIMIT_MS, limitMs: LIMIT_MS };
    const [answer] = await link.ask([{ name: "guest-network-get-interfaces" }], limits);
    if (!answer.ok) return undefined;
    const seen_at = new Date(host.clock.now()).toISOString();
    return new Map(
      objectsIn(answer.value).flatMap((one): [string, NicAddress[]][] => {
        const mac = textIn(one, "hardware-address");
        return mac === undefined ? [] : [[mac.toLowerCase(), addressesOf(one, seen_at)]];
      }),
    );
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function addressesOf(one: Record<string, unknown>, seen_at: string): NicAddress[] {
  return objectsIn(one["ip-addresses"]).flatMap((entry) => {
    const address = textIn(entry, "ip-address");
    const prefix = isPlainObject(entry) ? entry.prefix : undefined;
    if (address === undefined) return [];
    const known = typeof prefix === "number" ? { prefix } : {};
    return [{ address, ...known, source: "agent" as const, seen_at, age_s: 0 }];
  });
}
