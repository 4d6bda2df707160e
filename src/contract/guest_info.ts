/** What a guest is, as it says itself. */

import * as z from "zod/mini";
import { UnusedChannel } from "./guest_access.ts";

/** Fields of every answer about a guest: how it was asked. */
export const ASKED_THROUGH = {
  channel: z.string(),
  channels_not_used: z.optional(z.array(UnusedChannel)),
} as const;

/** A card of the guest with its addresses; prefix lengths stand after a slash. */
const GuestNic = z.object({ name: z.string(), mac: z.optional(z.string()), addresses: z.array(z.string()) });

/** A disk as the guest sees it. */
const GuestDisk = z.object({
  name: z.string(),
  model: z.optional(z.string()),
  size_bytes: z.number(),
  read_only: z.optional(z.boolean()),
});

/** A file system that the guest uses. */
const GuestVolume = z.object({
  /** Where it is mounted, or its drive letter. */
  path: z.string(),
  device: z.optional(z.string()),
  file_system: z.optional(z.string()),
  size_bytes: z.number(),
  free_bytes: z.number(),
});

/** The guest's clock beside this host's. */
const ClockSeen = z.object({
  time: z.string(),
  /** How far it is behind this host's clock, in milliseconds; negative when it is ahead. */
  skew_ms: z.int(),
  /** How far off `skew_ms` may be: the question was under way for about twice that. */
  uncertain_by_ms: z.int(),
});

/** A guest. A fact that it does not tell is left out and named under `missing`. */
export const GuestInfo = z.object({
  family: z.enum(["posix", "windows"]),
  os: z.string(),
  os_version: z.optional(z.string()),
  kernel: z.string(),
  architecture: z.string(),
  host_name: z.string(),
  boot_time: z.optional(z.string()),
  boot_id: z.optional(z.string()),
  cpus: z.optional(z.int()),
  memory_bytes: z.optional(z.number()),
  memory_available_bytes: z.optional(z.number()),
  clock: ClockSeen,
  nics: z.array(GuestNic),
  disks: z.array(GuestDisk),
  volumes: z.array(GuestVolume),
  /** The guest agent, where one answers: its version and the commands that it allows. */
  agent: z.optional(z.object({ version: z.string(), commands: z.array(z.string()) })),
  missing: z.optional(z.array(z.string())),
  ...ASKED_THROUGH,
});
export type GuestInfo = z.infer<typeof GuestInfo>;
