/** MAC addresses of VMs' network cards. */

import { HvError } from "../../../base/errors.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { type RecordedNic, recordedNics } from "./nic_records.ts";

/** An address that no VM's card has. */
export async function newMac(records: VmRecords): Promise<string> {
  const taken = await takenMacs(records);
  for (;;) {
    const mac = randomMac();
    if (!taken.has(mac)) return mac;
  }
}

/** The card of a copy: two VMs with one address would disturb each other on a switch. */
export function withNewMac(nic: RecordedNic): RecordedNic {
  return nic.mac === undefined ? nic : { ...nic, mac: randomMac() };
}

/** QEMU's own block of addresses; what follows is random. */
function randomMac(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(3))];
  return ["52:54:00", ...bytes.map((byte) => byte.toString(16).padStart(2, "0"))].join(":");
}

async function takenMacs(records: VmRecords): Promise<Map<string, VmRecord>> {
  const { records: all } = await records.list();
  return new Map(
    all.flatMap((vm) =>
      recordedNics(vm).flatMap(({ mac }): [string, VmRecord][] => mac === undefined ? [] : [[mac, vm]])
    ),
  );
}

/** Throws `hv.conflict` for an address that a VM's card has. */
export async function refuseTakenMac(records: VmRecords, mac: string): Promise<void> {
  const other = (await takenMacs(records)).get(mac);
  if (other === undefined) return;
  throw new HvError("hv.conflict", `The MAC address ${mac} is taken by "${other.name}"`, {
    hint: "Leave --mac out for a free one",
    context: { mac, vm: other.id, wanted: "free", found: "taken" },
  });
}
