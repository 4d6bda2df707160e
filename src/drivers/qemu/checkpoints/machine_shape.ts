/** What a machine is made of, as far as its memory fits only a machine like it. */

import * as z from "zod/mini";
import { isDiskPort, keyOfDevice } from "../disks/block_node.ts";
import { DRIVE } from "../launch/block_words.ts";
import { MachineLayout, placesThatDiffer } from "./machine_layout.ts";

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
  /**
   * Devices as `id:type`; those without an id by their number. QEMU lists them in the order of a hash table, which depends
   * on what was plugged in and out before, and finds their saved state by name (seen with QEMU 7.2).
   */
  devices: z.array(z.string()),
  /** Where they are plugged in; not known of memory that an older hvlab kept. */
  layout: z.optional(MachineLayout),
});
export type MachineShape = z.infer<typeof MachineShape>;

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
    return [...gone, ...added];
  });
  const places = saved.layout === undefined || now.layout === undefined
    ? []
    : placesThatDiffer(saved.layout, now.layout);
  return [...plain, ...lists, ...places];
}

/** Whether a machine started anew for the memory would fit: nothing differs but size, type and what a start places. */
export function wouldFitAnew(saved: MachineShape, now: MachineShape): boolean {
  const { machine, memory_mb, cpus } = saved;
  return differences(withoutPlaced(saved, saved), withoutPlaced({ ...now, machine, memory_mb, cpus }, saved))
    .length === 0;
}

/**
 * The machine without the ports of attached disks and the second serial port, where these are known, and without a drive
 * that came later.
 */
function withoutPlaced(shape: MachineShape, { devices, layout }: MachineShape): MachineShape {
  const isDrive = (device: string): boolean => device.startsWith(`${DRIVE}:`);
  const hadDrive = devices.some(isDrive);
  const left = shape.devices.filter((device) =>
    (hadDrive || !isDrive(device)) && (layout === undefined || !isDiskPort(device))
  );
  if (shape.layout === undefined) return { ...shape, devices: left };
  const buses = Object.entries(shape.layout.buses).filter(([device]) => keyOfDevice(device) === undefined);
  const placed = { ...shape.layout, buses: Object.fromEntries(buses), second_serial: false };
  return { ...shape, devices: left, layout: placed };
}
