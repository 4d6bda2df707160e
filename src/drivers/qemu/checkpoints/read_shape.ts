/** Reading off a living QEMU what its machine is made of. */

import { isPlainObject } from "../../../base/json.ts";
import { numberIn, objectsIn, textIn } from "../monitor/answers.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";
import { SECOND_SERIAL } from "../devices/serial_socket.ts";
import { isDiskPort } from "../disks/block_node.ts";
import { readLiveNics } from "../network/live_nics.ts";
import type { MachineLayout } from "./machine_layout.ts";
import type { MachineShape } from "./machine_shape.ts";

const NAMED = "/machine/peripheral";
const UNNAMED = "/machine/peripheral-anon";

/** Asks a living QEMU what its machine is made of. */
export async function readShape(monitor: VmMonitor): Promise<MachineShape> {
  return await monitor.ask(async (session) => {
    const [type, memory, cpus, kvm, parts, named, unnamed] = await Promise.all([
      session.command("qom-get", { path: "/machine", property: "type" }),
      session.command("query-memory-size-summary"),
      session.command("query-cpus-fast"),
      session.command("query-kvm"),
      session.command("query-memdev"),
      ...[NAMED, UNNAMED].map((path) => session.command("qom-list", { path })),
    ]);
    return {
      machine: String(type).replace(/-machine$/, ""),
      memory_mb: Math.round(numberIn(memory, "base-memory") / (1024 * 1024)),
      cpus: objectsIn(cpus).length,
      accelerator: isPlainObject(kvm) && kvm.enabled === true ? "kvm" : "tcg",
      memory_parts: objectsIn(parts).map((part) => textIn(part, "id") ?? "unnamed"),
      devices: [...devicesIn(named), ...devicesIn(unnamed)].map(({ name, type }) => `${name}:${type}`),
      layout: await readLayout(session, devicesIn(named).map(({ name }) => name)),
    };
  });
}

async function readLayout(session: QmpSession, names: readonly string[]): Promise<MachineLayout> {
  const numberOf = async (name: string, property: string): Promise<number> =>
    Number(await session.command("qom-get", { path: `${NAMED}/${name}`, property }));
  const buses = await Promise.all(names.map(async (name) => {
    const bus = String(
      await session.command("qom-get", { path: `${NAMED}/${name}`, property: "parent_bus" }),
    );
    return [name, bus.slice(bus.lastIndexOf("/") + 1)];
  }));
  const cards = await readLiveNics(session);
  const lines = objectsIn(await session.command("query-chardev"));
  return {
    buses: Object.fromEntries(buses),
    disk_ports: await sortedBy(names.filter(isDiskPort), (name) => numberOf(name, "chassis")),
    nics: (await sortedBy(cards, ({ number }) => numberOf(`nic-${number}`, "addr")))
      .map(({ number, mac, link }) => ({ number, mac, behind_host: link?.kind === "user" })),
    second_serial: lines.some(({ label }) => label === SECOND_SERIAL),
  };
}

async function sortedBy<T>(items: readonly T[], key: (item: T) => Promise<number>): Promise<T[]> {
  const keyed = await Promise.all(items.map(async (item) => ({ item, at: await key(item) })));
  return keyed.sort((a, b) => a.at - b.at).map(({ item }) => item);
}

function devicesIn(folder: unknown): { name: string; type: string }[] {
  return objectsIn(folder).flatMap((entry) => {
    const type = /^child<(.+)>$/.exec(textIn(entry, "type") ?? "")?.[1];
    const name = textIn(entry, "name");
    return type === undefined || name === undefined ? [] : [{ name, type }];
  });
}
