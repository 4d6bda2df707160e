/** What a machine is made of, as far as its memory fits only a machine like it. */

import * as z from "zod/mini";

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
  return [...plain, ...lists];
}

/** Whether a machine started anew with the saved size would fit: nothing but size and type differ. */
export function differInSizeAlone(saved: MachineShape, now: MachineShape): boolean {
  const { machine, memory_mb, cpus } = saved;
  return differences(saved, { ...now, machine, memory_mb, cpus }).length === 0;
}
