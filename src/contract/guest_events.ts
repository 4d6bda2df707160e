/** What a guest's journal or event log holds. */

import * as z from "zod/mini";
import { ASKED_THROUGH } from "./guest_info.ts";

/** From the worst to the least. A level asked for means it and worse. */
export const EVENT_LEVELS = ["critical", "error", "warning", "info", "debug"] as const;
export const EventLevel = z.enum(EVENT_LEVELS);
export type EventLevel = z.infer<typeof EventLevel>;

/** One entry. */
export const GuestEvent = z.object({
  time: z.string(),
  level: EventLevel,
  /** The program or provider that wrote it. */
  source: z.string(),
  message: z.string(),
  pid: z.optional(z.int()),
  /** The systemd unit it came from. */
  unit: z.optional(z.string()),
  /** Windows: the number of the event, and the log that it stands in. */
  event_id: z.optional(z.int()),
  log: z.optional(z.string()),
  /** Whether the message was longer. */
  message_truncated: z.optional(z.boolean()),
});
export type GuestEvent = z.infer<typeof GuestEvent>;

/** Newest first. `truncated` says that older ones fit the question too. */
export const GuestEvents = z.object({
  events: z.array(GuestEvent),
  truncated: z.optional(z.boolean()),
  ...ASKED_THROUGH,
});
export type GuestEvents = z.infer<typeof GuestEvents>;
