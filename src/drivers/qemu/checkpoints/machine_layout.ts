/**
 * Where things are plugged into a machine: memory finds its devices by their places. What was plugged in while the
 * machine ran stands in other places than a boot would give it, and what waits for a boot is not there at all.
 */

import * as z from "zod/mini";
import { deviceName, diskPort } from "../disks/block_node.ts";
import { SPARES } from "../launch/argv.ts";
import { DRIVE } from "../launch/block_words.ts";
import type { AttachedDrive, MachinePlan } from "../launch/machine_plan.ts";
import type { NicPlan } from "../network/netdevs.ts";

const Bus = z.string().check(z.regex(/^[A-Za-z0-9._-]{0,64}$/, "the name of a bus"));
const DiskPort = z.string().check(z.regex(/^disk-port-[0-9a-f]{8}$/, "the name of a disk's port"));
const Mac = z.string().check(z.regex(/^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/, "a MAC address"));

/** The places of a living machine. It may come with an export from anywhere: what becomes an option can be nothing else. */
export const MachineLayout = z.looseObject({
  /** What each named device is plugged into. */
  buses: z.record(z.string(), Bus),
  /** The ports that attached disks had at the start, in their order. */
  disk_ports: z.array(DiskPort),
  /** The network cards in the order of their places, and whether they lead out through the host. */
  nics: z.array(z.looseObject({ number: z.int(), mac: Mac, behind_host: z.boolean() })),
  /** Whether there is a second serial port. */
  second_serial: z.boolean(),
});
export type MachineLayout = z.infer<typeof MachineLayout>;
type KeptNic = MachineLayout["nics"][number];

/** A machine whose memory was kept. */
interface Kept {
  readonly devices: readonly string[];
  readonly layout?: MachineLayout | undefined;
}

/** How the places differ of what two machines both have, one phrase for each difference. */
export function placesThatDiffer(saved: MachineLayout, now: MachineLayout): string[] {
  const moved = Object.entries(saved.buses).flatMap(([device, bus]) => {
    const found = now.buses[device] ?? bus;
    return found === bus ? [] : [`${device} was in ${bus} and is in ${found}`];
  });
  const { second_serial: hadPort } = saved;
  const { second_serial: hasPort } = now;
  return [
    ...moved,
    ...(hadPort === hasPort ? [] : [`the second serial port is ${hadPort ? "missing" : "new"}`]),
    // The network behind the host has a state of its own, which loads only where there is one (seen with QEMU 7.2).
    ...(leadsOut(saved) && !leadsOut(now) ? ['a network card on the switch "default" is missing'] : []),
  ];
}

function leadsOut({ nics }: MachineLayout): boolean {
  return nics.some(({ behind_host: isBehind }) => isBehind);
}

/**
 * The plan with what hvlab itself places as it was: attached disks in their ports, and a drive and a second serial port
 * or none.
 */
export function placedAsKept(plan: MachinePlan, { devices, layout }: Kept): MachinePlan {
  const { dvd = {}, ...rest } = plan;
  const hadDrive = devices.some((device) => device.startsWith(`${DRIVE}:`));
  const placed = hadDrive ? { ...rest, dvd } : rest;
  return layout === undefined ? placed : { ...serialAsKept(placed, layout), ...disksAsKept(plan, layout) };
}

/** The plan of the very machine that was saved: without what its record has for the next boot alone. */
export function machineAsSaved(plan: MachinePlan, kept: Kept): MachinePlan {
  const placed = placedAsKept(plan, kept);
  const { layout } = kept;
  if (layout === undefined) return placed;
  return { ...placed, nics: layout.nics.map((nic) => nicAsSaved(plan, nic, layout)) };
}

function serialAsKept(plan: MachinePlan, { second_serial: hadPort }: MachineLayout): MachinePlan {
  const { serialSocket = plan.runtime.secondSerial, ...rest } = plan;
  return hadPort ? { ...rest, serialSocket } : rest;
}

/** A card that the record has given up, or leads elsewhere from the next boot on, is still as it was. */
function nicAsSaved(
  { nics = [] }: MachinePlan,
  { number, mac, behind_host: isBehind }: KeptNic,
  { buses }: MachineLayout,
): NicPlan {
  const slot = SPARES.find((spare) => spare === buses[`nic-${number}`]);
  const recorded = nics.find((nic) => nic.number === number && nic.slot === slot);
  if (recorded !== undefined && (recorded.link?.kind === "user") === isBehind) return recorded;
  return {
    number,
    mac,
    ...(slot === undefined ? {} : { slot }),
    ...(isBehind ? { link: { kind: "user" } } : {}),
  };
}

function disksAsKept(
  { disks = [], nics = [] }: MachinePlan,
  { buses, disk_ports }: MachineLayout,
): Pick<MachinePlan, "disks" | "diskPorts"> {
  const taken = new Set(nics.flatMap(({ slot }) => slot ?? []));
  const placed = disks.map((disk): AttachedDrive => {
    const port = buses[deviceName(disk.key)];
    return port === undefined || taken.has(port) ? disk : { ...disk, port };
  });
  const others = placed.filter(({ port }) => port === undefined).map(({ key }) => diskPort(key));
  return { disks: placed, diskPorts: [...new Set([...disk_ports, ...others])] };
}
