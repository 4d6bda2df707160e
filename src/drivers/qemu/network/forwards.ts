/**
 * Port forwards of VMs. A VM's record holds those that last; all records together are where ports are reserved, under
 * one lock, so that a call that is killed leaves no reservation without its VM. What is open QEMU says each time.
 */

import { HvError } from "../../../base/errors.ts";
import { UndoList } from "../../../base/undo.ts";
import type { Forward } from "../../../contract/network.ts";
import type { CallScope } from "../../call_scope.ts";
import type { ForwardAbilities, ForwardWish } from "../../network_abilities.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { waitForVmLock } from "../vm_lock.ts";
import { openFirstFree, openForward } from "./chosen_port.ts";
import { closeHostForward, type HostForward, isSamePlace, readHostForwards } from "./host_forwards.ts";
import {
  chooseHostPort,
  refuseForeignAddress,
  refuseTakenPlace,
  reservedPlaces,
  takePorts,
} from "./host_ports.ts";
import { needUserNetwork } from "./nic_records.ts";
import { reachPort } from "./reach.ts";

/** A forward as a VM's record keeps it. */
export type LastingForward = NonNullable<VmRecord["forwards"]>[number];

/** Only programs of this host come in, unless the user says otherwise. */
const LOOPBACK = "127.0.0.1";

/** Port forwards of the QEMU driver. */
export function openForwards(context: QemuContext, records: VmRecords): ForwardAbilities {
  return {
    list: async (id, signal) => await listForwards(context, await records.get(id), signal),
    add: (id, wish, scope) => addForward(context, records, id, wish, scope),
    remove: (id, which, scope) => removeForwards(context, records, id, which, scope),
    reach: (id, guestPort, signal) => reachPort(context, records, id, guestPort, signal),
  };
}

/** Those of the record, and those that are open beside it. */
async function listForwards(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<Forward[]> {
  const { id, forwards: lasting = [] } = record;
  const open = await openForwardsOf(context, record, signal);
  const passing = open.filter((forward) => !lasting.some((other) => isSamePlace(forward, other)));
  return [
    ...lasting.map((forward) => shown(id, forward, open)),
    ...passing.map((forward) => ({ vm: id, ...forward, auto: true, lasting: false, open: true })),
  ];
}

function shown(vm: string, forward: LastingForward, open: readonly HostForward[]): Forward {
  const { guest_port, host_address, host_port, auto = false } = forward;
  const isOpen = open.some((other) => isSamePlace(forward, other));
  return { vm, guest_port, host_address, host_port, auto, lasting: true, open: isOpen };
}

/** What the machine has open; nothing while there is no machine. Throws when it cannot be asked. */
async function openForwardsOf(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<HostForward[]> {
  if (!(await observe(context, record, signal)).alive) return [];
  return await new VmMonitor(context, record).ask(readHostForwards);
}

async function addForward(
  context: QemuContext,
  records: VmRecords,
  id: string,
  { host_address = LOOPBACK, ...rest }: ForwardWish,
  { signal }: CallScope,
): Promise<Forward> {
  const wish = { host_address, ...rest };
  await records.get(id);
  await using _lock = await waitForVmLock(context, id, "configuring", signal);
  using _ports = await takePorts(context, signal);
  const record = await records.get(id);
  refuseAdopted(record, "forward a port to");
  needUserNetwork(record);
  refuseForeignAddress(context.host, wish.host_address);
  const { alive } = await observe(context, record, signal);
  const monitor = new VmMonitor(context, record);
  const known = record.forwards?.find((forward) => isWished(forward, wish));
  await using undo = new UndoList();
  const forward = await openFirstFree(
    async (taken) => {
      if (known !== undefined) return known;
      const chosen = await reserve(context, records, wish, taken);
      undo.add("reservation", () => records.save(record));
      await records.save({ ...record, forwards: [...record.forwards ?? [], chosen] });
      return chosen;
    },
    async (chosen) => {
      if (!alive) return;
      const open = chosen === known ? await monitor.ask(readHostForwards) : [];
      if (!open.some((other) => isSamePlace(chosen, other))) await openForward(monitor, chosen);
    },
  );
  undo.keep();
  return shown(id, forward, await openForwardsOf(context, record, signal));
}

function isWished(
  forward: LastingForward,
  { guest_port, host_address, host_port }: Required<ForwardWish>,
): boolean {
  if (forward.guest_port !== guest_port || forward.host_address !== host_address) return false;
  return host_port === "auto" ? forward.auto === true : forward.host_port === host_port;
}

/** Finds the place of the host for a new forward; the caller holds the lock of ports and writes it down. */
async function reserve(
  context: QemuContext,
  records: VmRecords,
  { guest_port, host_address, host_port }: Required<ForwardWish>,
  except: ReadonlySet<number>,
): Promise<LastingForward> {
  const reserved = await reservedPlaces(records);
  if (host_port === "auto") {
    const chosen = chooseHostPort(context.host, host_address, reserved, except);
    return { guest_port, host_address, host_port: chosen, auto: true };
  }
  await refuseTakenPlace(context.host, { host_address, host_port }, reserved);
  return { guest_port, host_address, host_port };
}

async function removeForwards(
  context: QemuContext,
  records: VmRecords,
  id: string,
  which: { guest_port: number; host_port?: number },
  { signal }: CallScope,
): Promise<Forward[]> {
  await records.get(id);
  await using _lock = await waitForVmLock(context, id, "configuring", signal);
  const record = await records.get(id);
  refuseAdopted(record, "remove a forward of");
  const doomed = (await listForwards(context, record, signal)).filter(({ guest_port, host_port }) =>
    guest_port === which.guest_port && host_port === (which.host_port ?? host_port)
  );
  if (doomed.length === 0) throw noForward(record, which);
  const isDoomed = (forward: HostForward): boolean => doomed.some((other) => isSamePlace(forward, other));
  const { forwards = [], ...rest } = record;
  const stay = forwards.filter((forward) => !isDoomed(forward));
  await records.save(stay.length === 0 ? rest : { ...rest, forwards: stay });
  await closeAll(context, record, doomed.filter(({ open }) => open));
  const left = await openForwardsOf(context, record, signal);
  return doomed.map((forward) => ({ ...forward, open: left.some((other) => isSamePlace(forward, other)) }));
}

async function closeAll(
  context: QemuContext,
  record: VmRecord,
  forwards: readonly HostForward[],
): Promise<void> {
  if (forwards.length === 0) return;
  await new VmMonitor(context, record).ask(async (session) => {
    for (const forward of forwards) await closeHostForward(session, forward);
    return {};
  });
}

function noForward(
  { id, name }: VmRecord,
  { guest_port, host_port }: { guest_port: number; host_port?: number },
): HvError {
  const from = host_port === undefined ? "" : ` from the host's port ${host_port}`;
  return new HvError("hv.not_found", `"${name}" has no forward to the guest's port ${guest_port}${from}`, {
    hint: `List them with: hvlab forward list ${id}`,
    context: { vm: id, guest_port, ...(host_port === undefined ? {} : { host_port }) },
  });
}
