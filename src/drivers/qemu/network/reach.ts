/** Ways to ports of running guests for programs of our own. */

import type { Reach } from "../../network_abilities.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import type { VmRecords } from "../records.ts";
import { openFirstFree, openForward } from "./chosen_port.ts";
import {
  ANY_ADDRESS,
  closeHostForward,
  type HostForward,
  isSamePlace,
  readHostForwards,
} from "./host_forwards.ts";
import { chooseHostPort, reservedPlaces } from "./host_ports.ts";
import { needUserNetwork } from "./nic_records.ts";

const LOOPBACK = "127.0.0.1";
const CLEANUP_LIMIT_MS = 10_000;

/**
 * A lasting forward to the guest's port that is open, else one that only the machine knows of. Two users of one port get a
 * forward each, so that neither takes away the other's.
 */
export async function reachPort(
  context: QemuContext,
  records: VmRecords,
  id: string,
  guestPort: number,
  signal: AbortSignal,
): Promise<Reach> {
  const record = await records.get(id);
  refuseAdopted(record, "forward a port to");
  needUserNetwork(record);
  const monitor = new VmMonitor(context, record);
  const lasting = await findLasting(monitor, record.forwards ?? [], guestPort);
  if (lasting !== undefined) {
    const address = lasting.host_address === ANY_ADDRESS ? LOOPBACK : lasting.host_address;
    return { address, port: lasting.host_port, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const reserved = await reservedPlaces(records);
  const forward = await openFirstFree((taken) => {
    signal.throwIfAborted();
    const host_port = chooseHostPort(context.host, LOOPBACK, reserved, taken);
    return Promise.resolve({ host_address: LOOPBACK, host_port, guest_port: guestPort });
  }, (chosen) => openForward(monitor, chosen));
  return {
    address: LOOPBACK,
    port: forward.host_port,
    async [Symbol.asyncDispose]() {
      // A machine that has ended meanwhile took its forward with it.
      const { alive } = await observe(context, record, AbortSignal.timeout(CLEANUP_LIMIT_MS));
      if (alive) {
        await monitor.ask(async (session) => ({ was: await closeHostForward(session, forward) }));
      }
    },
  };
}

async function findLasting(
  monitor: VmMonitor,
  lasting: readonly HostForward[],
  guestPort: number,
): Promise<HostForward | undefined> {
  const wanted = lasting.filter(({ guest_port }) => guest_port === guestPort);
  if (wanted.length === 0) return undefined;
  const open = await monitor.ask(readHostForwards);
  return wanted.find((forward) => open.some((other) => isSamePlace(forward, other)));
}
