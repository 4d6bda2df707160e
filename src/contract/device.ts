/** Devices of VMs that are plugged in and out, or told apart. */

import * as z from "zod/mini";

/** Whether a VM is to have a device. */
export const Presence = z.enum(["on", "off"]);
export type Presence = z.infer<typeof Presence>;

/** What happens when a guest stops feeding its watchdog: `off` cuts the power, `nmi` lets its kernel crash. */
export const WatchdogAction = z.enum(["reset", "pause", "off", "nmi"]);
export type WatchdogAction = z.infer<typeof WatchdogAction>;

/** What a device is for. */
export const DeviceKind = z.enum([
  "disk",
  "dvd",
  "nic",
  "serial",
  "tpm",
  "watchdog",
  "gpu",
  "generation_id",
  "crash_notifier",
]);
export type DeviceKind = z.infer<typeof DeviceKind>;

/** A device as it is seen now. */
export const Device = z.object({
  id: z.string(),
  kind: DeviceKind,
  /** The VM's id. */
  vm: z.string(),
  /** What it is, in the provider's words. */
  model: z.string(),
  /** What is in it or at its other end: a disk, a disc, a pipe, a folder; `null` for nothing. */
  holds: z.optional(z.nullable(z.string())),
  /** What it holds from the VM's next start on, where that is something else. */
  holds_at_next_start: z.optional(z.nullable(z.string())),
  /** What a watchdog does, where hvlab gave it to the VM. */
  action: z.optional(WatchdogAction),
  /** Whether the VM's machine has it now. */
  now: z.boolean(),
  /** Whether the VM has it from its next start on. */
  next_start: z.boolean(),
});
export type Device = z.infer<typeof Device>;

/** Memory of a graphics card that a VM may have, in MiB. */
export const GpuMemoryMb = z.int().check(z.minimum(1), z.maximum(1024 * 1024));
