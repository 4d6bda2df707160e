/** The services of a guest: systemd's units, or those of Windows. */

import * as z from "zod/mini";
import { ASKED_THROUGH } from "./guest_info.ts";

/** `exited` has done its work and ended; `failed` ended with a failure, or on Windows should run and ended so. */
export const ServiceState = z.enum([
  "running",
  "exited",
  "stopped",
  "failed",
  "starting",
  "stopping",
  "paused",
  "unknown",
]);
export type ServiceState = z.infer<typeof ServiceState>;

/** One service. */
export const GuestService = z.object({
  name: z.string(),
  description: z.optional(z.string()),
  state: ServiceState,
  /** The manager's own words, as `active (running)`. */
  detail: z.string(),
  /** How it starts, in the manager's own word: `enabled`, `static`, `Auto`. */
  start: z.optional(z.string()),
  pid: z.optional(z.int()),
  exit_code: z.optional(z.int()),
  /** Why it failed, in the manager's own word: `exit-code`, `timeout`. */
  reason: z.optional(z.string()),
});
export type GuestService = z.infer<typeof GuestService>;

/** Those asked for, by name. `found` counts what fits the question, listed or not. */
export const GuestServices = z.object({
  services: z.array(GuestService),
  found: z.int(),
  truncated: z.optional(z.boolean()),
  ...ASKED_THROUGH,
});
export type GuestServices = z.infer<typeof GuestServices>;
