/**
 * Network cards of VMs. A VM's record holds the cards that it has from its next start on; what its machine has now QEMU
 * says each time.
 */

import { HvError } from "../../../base/errors.ts";
import { UndoList } from "../../../base/undo.ts";
import { DEFAULT_SWITCH, plainMac } from "../../../contract/network.ts";
import type { CallScope } from "../../call_scope.ts";
import type { NicAbilities, NicChange, NicWish } from "../../network_abilities.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import { SPARES } from "../launch/argv.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { waitForVmLock } from "../vm_lock.ts";
import { freeSlots, type LiveNic, moveNic, plugIn, unplug } from "./live_nics.ts";
import { newMac, refuseTakenMac } from "./mac_addresses.ts";
import { isSameLink, listNics, liveNics, nameOf } from "./nic_list.ts";
import { planOf, type RecordedNic, recordedNics } from "./nic_records.ts";
import { linkOf } from "./segments.ts";
import { needSwitch, takeSwitches } from "./switches.ts";

/** As many as Hyper-V gives a VM. */
const NIC_LIMIT = 8;

/** A VM that is being changed: its lock is held. */
interface Changing {
  record: VmRecord;
  nics: RecordedNic[];
  /** The cards of its machine; `undefined` when it has none. */
  live: LiveNic[] | undefined;
  monitor: VmMonitor;
}

/** Network cards of the QEMU driver. */
export function openNics(context: QemuContext, records: VmRecords): NicAbilities {
  return {
    async list(id, signal) {
      const record = await records.get(id);
      refuseAdopted(record, "list the network cards of");
      return await listNics(context, record, signal);
    },
    add: (id, wish, scope) => change(context, records, id, scope, (vm) => addNic(context, records, vm, wish)),
    set: (id, nic, wish, scope) =>
      change(context, records, id, scope, (vm) => setNic(context, records, vm, nic, wish)),
    remove: (id, nic, scope) =>
      change(context, records, id, scope, (vm) => removeNic(context, records, vm, nic)),
  };
}

async function change<T>(
  context: QemuContext,
  records: VmRecords,
  id: string,
  { signal }: CallScope,
  work: (vm: Changing) => Promise<T>,
): Promise<T> {
  await records.get(id);
  await using _lock = await waitForVmLock(context, id, "configuring", signal);
  using _switches = await takeSwitches(context, signal);
  const record = await records.get(id);
  refuseAdopted(record, "change the network cards of");
  refuseSaved(record, (await observe(context, record, signal)).state);
  const live = await liveNics(context, record, signal);
  return await work({ record, nics: recordedNics(record), live, monitor: new VmMonitor(context, record) });
}

async function addNic(
  context: QemuContext,
  records: VmRecords,
  { record, nics, live, monitor }: Changing,
  wish: NicWish,
): Promise<string> {
  await needSwitch(context, wish.switch);
  refuseVlan(record, wish.vlan);
  refuseFull(record, nics);
  const mac = wish.mac === undefined ? await newMac(records) : plainMac(wish.mac);
  await refuseTakenMac(records, mac);
  const used = new Set([...nics, ...live ?? []].map(({ number }) => number));
  const number =
    Array.from({ length: used.size + 1 }, (_, index) => index).find((index) => !used.has(index)) ?? 0;
  const slot = await findSlot(monitor, nics, live !== undefined);
  const nic: RecordedNic = { number, mac, ...(slot === undefined ? {} : { slot }), switch: wish.switch };
  await using undo = new UndoList();
  undo.add("record", () => records.save(record));
  await records.save({ ...record, nics: [...nics, nic] });
  if (live !== undefined && slot !== undefined) {
    await monitor.ask(async (session) => {
      await plugIn(session, planOf(nic));
      return {};
    });
  }
  undo.keep();
  return nameOf(number);
}

async function setNic(
  context: QemuContext,
  records: VmRecords,
  { record, nics, live, monitor }: Changing,
  reference: string,
  { switch: id, vlan }: NicChange,
): Promise<void> {
  const nic = findNic(record, nics, reference);
  refuseVlan(record, vlan);
  if (id === undefined) return;
  if (id !== null) await needSwitch(context, id);
  const { switch: _, ...rest } = nic;
  const changed: RecordedNic = id === null
    ? rest
    : { ...rest, ...await ownMac(records, nic, id), switch: id };
  const all = nics.map((other) => other.number === nic.number ? changed : other);
  refuseForwardless(record, all);
  await using undo = new UndoList();
  undo.add("record", () => records.save(record));
  await records.save({ ...record, nics: all });
  const seen = live?.find(({ number }) => number === nic.number);
  const link = id === null ? undefined : linkOf(id);
  if (seen?.isMovable && !isSameLink(seen.link, link)) {
    await monitor.ask(async (session) => {
      await moveNic(session, nic.number, seen.link, link);
      return {};
    });
  }
  undo.keep();
}

/** QEMU's standard address serves behind the host, where each VM is alone; on a switch two VMs would have it. */
async function ownMac(records: VmRecords, { mac }: RecordedNic, id: string): Promise<{ mac?: string }> {
  return mac === undefined && id !== DEFAULT_SWITCH ? { mac: await newMac(records) } : {};
}

async function removeNic(
  context: QemuContext,
  records: VmRecords,
  { record, nics, live, monitor }: Changing,
  reference: string,
): Promise<void> {
  const nic = findNic(record, nics, reference);
  const left = nics.filter(({ number }) => number !== nic.number);
  refuseForwardless(record, left);
  await records.save({ ...record, nics: left });
  const isPlugged = live?.some(({ number }) => number === nic.number) && nic.slot !== undefined;
  if (isPlugged) await unplug(monitor, context.host, nic.number);
}

function findNic({ id, name }: VmRecord, nics: readonly RecordedNic[], reference: string): RecordedNic {
  const found = nics.find(({ number }) => nameOf(number) === reference);
  if (found !== undefined) return found;
  const known = nics.map(({ number }) => nameOf(number));
  throw new HvError("hv.not_found", `"${name}" has no network card "${reference}"`, {
    hint: known.length === 0 ? "It has none" : `It has ${known.join(", ")}`,
    context: { vm: id, nic: reference, known },
  });
}

/** A root port for a new card, from the last on; a machine that lives says itself which are free. */
async function findSlot(
  monitor: VmMonitor,
  nics: readonly RecordedNic[],
  isAlive: boolean,
): Promise<string | undefined> {
  const free = isAlive ? await monitor.ask(freeSlots) : SPARES;
  return free.findLast((slot) => !nics.some((nic) => nic.slot === slot));
}

function refuseFull({ id, name }: VmRecord, nics: readonly RecordedNic[]): void {
  if (nics.length < NIC_LIMIT) return;
  throw new HvError("hv.conflict", `"${name}" has ${nics.length} network cards, and may have ${NIC_LIMIT}`, {
    hint: `Remove one: hvlab nic remove ${id}`,
    context: { vm: id, wanted: `fewer than ${NIC_LIMIT}`, found: nics.length },
  });
}

/** Saved memory fits only the machine that it was saved of. */
function refuseSaved({ id, name }: VmRecord, state: string): void {
  if (state !== "saved") return;
  throw new HvError(
    "hv.conflict",
    `Cannot change the network cards of "${name}": its memory is saved with them`,
    {
      hint: `Resume it first: hvlab vm start ${id}`,
      context: { vm: id, wanted: "off or running", found: state },
    },
  );
}

/** Forwards go through a card behind the host; without one the VM could not start with them. */
function refuseForwardless({ id, name, forwards = [] }: VmRecord, nics: readonly RecordedNic[]): void {
  const [first] = forwards;
  if (first === undefined || nics.some((nic) => nic.switch === DEFAULT_SWITCH)) return;
  throw new HvError("hv.conflict", `The forwards of "${name}" go through this network card`, {
    hint: `Remove them first: hvlab forward remove ${id} ${first.guest_port}`,
    context: { vm: id, wanted: "no forwards", found: forwards.length },
  });
}

function refuseVlan({ id, name }: VmRecord, vlan: number | undefined): void {
  if (vlan === undefined || vlan === 0) return;
  throw new HvError("hv.unsupported", `Cannot put "${name}" into a VLAN: a switch of QEMU has none`, {
    hint: "Make a switch for each network: hvlab switch create",
    context: { vm: id, vlan },
  });
}
