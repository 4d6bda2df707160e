/** What a machine's network gets once its monitor answers at a start. */

import type { CallScope } from "../../call_scope.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import type { VmRecords } from "../records.ts";
import { openFirstFree, openForward } from "./chosen_port.ts";
import type { LastingForward } from "./forwards.ts";
import { chooseHostPort, reservedPlaces, takePorts } from "./host_ports.ts";
import { needUserNetwork } from "./nic_records.ts";

/**
 * Opens the forwards of a VM whose machine is starting. A port that hvlab chose and somebody has taken since gives way
 * to another one; one that the user named is `hv.conflict` with its holder. The caller holds the VM's lock.
 */
export async function openForwardsAtStart(
  context: QemuContext,
  records: VmRecords,
  id: string,
  session: QmpSession,
  { signal, warn }: Pick<CallScope, "signal" | "warn">,
): Promise<void> {
  const record = await records.get(id);
  const { forwards = [] } = record;
  if (forwards.length === 0) return;
  needUserNetwork(record);
  const monitor = new VmMonitor(context, record, session);
  using _ports = await takePorts(context, signal);
  const opened: LastingForward[] = [];
  for (const forward of forwards) {
    const open = (chosen: LastingForward): Promise<void> => openForward(monitor, chosen);
    const choose = (taken: ReadonlySet<number>): Promise<LastingForward> =>
      taken.size === 0 || forward.auto !== true
        ? Promise.resolve(forward)
        : chooseAnother(context, records, forward, taken);
    opened.push(await openFirstFree(choose, open));
  }
  const changed = opened.filter((forward, index) => forward !== forwards[index]);
  if (changed.length === 0) return;
  await records.save({ ...await records.get(id), forwards: opened });
  for (const { guest_port, host_port } of changed) {
    warn?.(`The guest's port ${guest_port} is now the host's port ${host_port}: its old one was taken`);
  }
}

async function chooseAnother(
  context: QemuContext,
  records: VmRecords,
  forward: LastingForward,
  taken: ReadonlySet<number>,
): Promise<LastingForward> {
  const reserved = await reservedPlaces(records);
  return { ...forward, host_port: chooseHostPort(context.host, forward.host_address, reserved, taken) };
}
