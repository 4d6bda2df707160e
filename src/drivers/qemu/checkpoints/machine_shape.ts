/** What a machine is made of, as far as its memory fits only a machine like it. */

import * as z from "zod/mini";
import { isPlainObject } from "../../../base/json.ts";
import { numberIn, objectsIn, textIn } from "./answers.ts";
import type { VmMonitor } from "./vm_monitor.ts";

/** The facts that must be equal for saved memory to load. */
export const MachineShape = z.looseObject({
  /** The machine type with its version. */
  machine: z.string(),
  memory_mb: z.int(),
  cpus: z.int(),
  /** It decides which processor the guest has seen. */
  accelerator: z.string(),
  /** Names of the memory's parts, which the saved state refers to. */
  memory_parts: z.array(z.string()),
  /** Devices in their order, as `id:type`; those without an id by their number. */
  devices: z.array(z.string()),
});
export type MachineShape = z.infer<typeof MachineShape>;

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

/** How a machine differs from the one whose memory was saved, one phrase for each difference. */
export function differences(saved: MachineShape, now: MachineShape): string[] {
  const plain = (["machine", "memory_mb", "cpus", "accelerator"] as const)
    .filter((field) => saved[field] !== now[field])
    .map((field) => `${field} was ${saved[field]} and is ${now[field]}`);
  const lists = (["memory_parts", "devices"] as const).flatMap((field) => {
    const gone = saved[field].filter((item) => !now[field].includes(item)).map((item) =>
      `${item} is missing`
    );
    const added = now[field].filter((item) => !saved[field].includes(item)).map((item) => `${item} is new`);
    if (gone.length + added.length > 0) return [...gone, ...added];
    return saved[field].join() === now[field].join() ? [] : [`the ${field} stand in another order`];
  });
  return [...plain, ...lists];
}

/** Whether a machine started anew with the saved size would fit: nothing but size and type differ. */
export function differInSizeAlone(saved: MachineShape, now: MachineShape): boolean {
  const { machine, memory_mb, cpus } = saved;
  return differences(saved, { ...now, machine, memory_mb, cpus }).length === 0;
}

function devicesIn(folder: unknown): string[] {
  return objectsIn(folder).flatMap((entry) => {
    const type = /^child<(.+)>$/.exec(textIn(entry, "type") ?? "")?.[1];
    const name = textIn(entry, "name");
    return type === undefined || name === undefined ? [] : [`${name}:${type}`];
  });
}
