/** Reading off a living QEMU what its machine is made of. */

import { isPlainObject } from "../../../base/json.ts";
import { numberIn, objectsIn, textIn } from "../monitor/answers.ts";
import type { MachineShape } from "./machine_shape.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";

const DEVICE_FOLDERS = ["/machine/peripheral", "/machine/peripheral-anon"] as const;

/** Asks a living QEMU what its machine is made of. */
export async function readShape(monitor: VmMonitor): Promise<MachineShape> {
  return await monitor.ask(async (session) => {
    const [type, memory, cpus, kvm, parts, ...folders] = await Promise.all([
      session.command("qom-get", { path: "/machine", property: "type" }),
      session.command("query-memory-size-summary"),
      session.command("query-cpus-fast"),
      session.command("query-kvm"),
      session.command("query-memdev"),
      ...DEVICE_FOLDERS.map((path) => session.command("qom-list", { path })),
    ]);
    return {
      machine: String(type).replace(/-machine$/, ""),
      memory_mb: Math.round(numberIn(memory, "base-memory") / (1024 * 1024)),
      cpus: objectsIn(cpus).length,
      accelerator: isPlainObject(kvm) && kvm.enabled === true ? "kvm" : "tcg",
      memory_parts: objectsIn(parts).map((part) => textIn(part, "id") ?? "unnamed"),
      devices: folders.flatMap(devicesIn),
    };
  });
}

function devicesIn(folder: unknown): string[] {
  return objectsIn(folder).flatMap((entry) => {
    const type = /^child<(.+)>$/.exec(textIn(entry, "type") ?? "")?.[1];
    const name = textIn(entry, "name");
    return type === undefined || name === undefined ? [] : [`${name}:${type}`];
  });
}
