/** The network cards of a running machine: seen, plugged in and out, and plugged into something else. */

import type { Host } from "../../../host/host.ts";
import { SPARES } from "../launch/argv.ts";
import { objectsIn } from "../monitor/answers.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import { hubPort, linkNetdevs, nicDevice, type NicLink, type NicPlan } from "./netdevs.ts";

/** A card as QEMU shows it. */
export interface LiveNic {
  number: number;
  mac: string;
  /** What it is plugged into; `undefined` for nothing. */
  link: NicLink | undefined;
  /** Whether it hangs on a hub and can be plugged into something else. */
  isMovable: boolean;
}

const PERIPHERALS = "/machine/peripheral";
/** `net-1: nic-1: index=0,type=nic,model=virtio-net-pci,macaddr=52:54:00:aa:bb:cc`, on a hub with the name of its port. */
const CARD = /(?:(net-\d+): )?nic-(\d+): index=\d+,type=nic,model=[^,]*,macaddr=([0-9a-f:]{17})/g;
/** `link-1: index=0,type=socket,socket: mcast=239.1.2.3:34567`, or `net-0: index=0,type=user,net=10.0.2.0,restrict=off`. */
const LINK =
  /(?:link|net)-(\d+): index=\d+,type=(?:(user),|socket,\S* ?mcast=([\d.]+):(\d+)|tap,ifname=([^,\s]+))/g;
/** A guest that takes part lets go within a tenth of a second; one that is still booting does not. */
const UNPLUG_LIMIT_MS = 3_000;
const LOOK_AGAIN_MS = 20;

/** Every card of ours. */
export async function readLiveNics(session: QmpSession): Promise<LiveNic[]> {
  const command = { "command-line": "info network" };
  const text = String(await session.command("human-monitor-command", command));
  const links = new Map([...text.matchAll(LINK)].map((found) => [Number(found[1]), linkIn(found)]));
  return [...text.matchAll(CARD)].map(([, hub, number, mac = ""]) => ({
    number: Number(number),
    mac,
    link: links.get(Number(number)),
    isMovable: hub !== undefined,
  }));
}

function linkIn([, , user, group, port, tap]: RegExpMatchArray): NicLink {
  if (user !== undefined) return { kind: "user" };
  if (tap !== undefined) return { kind: "tap", name: tap };
  return { kind: "segment", group: group ?? "", port: Number(port) };
}

/** The root ports in which nothing is plugged. */
export async function freeSlots(session: QmpSession): Promise<string[]> {
  const devices = objectsIn(await session.command("qom-list", { path: PERIPHERALS }))
    .filter(({ type }) => String(type).startsWith("child<"));
  const buses = await Promise.all(
    devices.map(({ name }) =>
      session.command("qom-get", { path: `${PERIPHERALS}/${name}`, property: "parent_bus" })
    ),
  );
  return SPARES.filter((slot) => !buses.includes(`${PERIPHERALS}/${slot}/${slot}`));
}

/** Plugs a card in. A failure leaves nothing behind; what a call that was killed left under its number goes first. */
export async function plugIn(session: QmpSession, plan: NicPlan): Promise<void> {
  const { number, link } = plan;
  await takeNetdevs(session, number);
  try {
    await session.command("netdev_add", hubPort(number));
    if (link !== undefined) await connect(session, number, link);
    await session.command("device_add", nicDevice(plan));
  } catch (error) {
    await takeNetdevs(session, number);
    throw error;
  }
}

/** Plugs a card into something else, or into nothing. */
export async function moveNic(
  session: QmpSession,
  number: number,
  before: NicLink | undefined,
  link: NicLink | undefined,
): Promise<void> {
  await disconnect(session, number);
  if (link === undefined) return;
  try {
    await connect(session, number, link);
  } catch (error) {
    if (before !== undefined) await connect(session, number, before);
    throw error;
  }
}

/** Asks the guest to let go of a card. Answers whether it has; one that does not now still may, and does at its next start. */
export async function unplug(monitor: VmMonitor, host: Host, number: number): Promise<boolean> {
  const end = host.clock.monotonic() + UNPLUG_LIMIT_MS;
  await monitor.tell("device_del", { id: `nic-${number}` });
  while (await isThere(monitor, number)) {
    if (host.clock.monotonic() >= end) return false;
    await host.clock.sleep(LOOK_AGAIN_MS);
  }
  await monitor.ask(async (session) => {
    await takeNetdevs(session, number);
    return {};
  });
  return true;
}

async function isThere(monitor: VmMonitor, number: number): Promise<boolean> {
  const devices = objectsIn(await monitor.tell("qom-list", { path: PERIPHERALS }));
  return devices.some(({ name }) => name === `nic-${number}`);
}

async function connect(session: QmpSession, number: number, link: NicLink): Promise<void> {
  try {
    for (const netdev of linkNetdevs(number, link)) await session.command("netdev_add", netdev);
  } catch (error) {
    await disconnect(session, number);
    throw error;
  }
}

async function disconnect(session: QmpSession, number: number): Promise<void> {
  for (const id of [`plug-${number}`, `link-${number}`]) await takeNetdev(session, id);
}

async function takeNetdevs(session: QmpSession, number: number): Promise<void> {
  await disconnect(session, number);
  await takeNetdev(session, `net-${number}`);
}

/** One that is not there is gone already. */
async function takeNetdev(session: QmpSession, id: string): Promise<void> {
  await session.command("netdev_del", { id }).catch(() => {});
}
