/** Settings of a VM beside its size, where the provider keeps them. */

import * as z from "zod/mini";
import { MemoryMb } from "./arguments.ts";

/** What a VM can boot from. */
export const BootDevice = z.enum(["disk", "dvd", "network"]);
export type BootDevice = z.infer<typeof BootDevice>;

/** Whose keys Secure Boot trusts: Microsoft's for Windows, or Microsoft's for other systems, which Linux loaders are signed with. */
export const SecureBoot = z.enum(["off", "windows", "linux"]);
export type SecureBoot = z.infer<typeof SecureBoot>;

/** A field that is absent cannot be had by this VM, or cannot be told. */
export const VmSettings = z.object({
  /** Whether its memory grows and shrinks between the two bounds while it runs. */
  dynamic_memory: z.optional(z.boolean()),
  memory_min_mb: z.optional(MemoryMb),
  memory_max_mb: z.optional(MemoryMb),
  /** Which kind of device is tried first; within a kind the order stays. */
  boot: z.optional(z.array(BootDevice)),
  secure_boot: z.optional(SecureBoot),
  tpm: z.optional(z.boolean()),
  /** Whether its guest may run virtual machines itself. */
  nested: z.optional(z.boolean()),
  /** What becomes of it when the host starts, and how long after that. */
  on_host_start: z.optional(z.enum(["nothing", "if_it_ran", "start"])),
  start_delay_s: z.optional(z.int().check(z.minimum(0), z.maximum(86_400))),
  /** What becomes of it when the host shuts down. */
  on_host_stop: z.optional(z.enum(["save", "shutdown", "off"])),
  /** The user's own text. */
  notes: z.optional(z.string().check(z.maxLength(4096))),
});
export type VmSettings = z.infer<typeof VmSettings>;
