/** What can be asked of a guest, whichever family it is of. */

import type { EventLevel, GuestEvent } from "../contract/guest_events.ts";
import type { GuestInfo } from "../contract/guest_info.ts";
import type { GuestProcess } from "../contract/guest_processes.ts";
import type { GuestService } from "../contract/guest_services.ts";
import type { ProgramRunner } from "./channel.ts";

/** What the guest says of itself; `clock_ms` is its time since 1970 when it was asked, in steps of `clock_step_ms`. */
export type OwnFacts =
  & Omit<GuestInfo, "family" | "clock" | "channel" | "channels_not_used" | "agent">
  & { clock_ms: number; clock_step_ms: number };

/** A list, and whether the guest had more of it than could be taken in. */
export interface Listing<T> {
  items: T[];
  truncated: boolean;
  /** What the guest said about it beside. */
  warning?: string;
}

/** Which events; texts are compared without regard to the case of letters. */
export interface EventWish {
  since_s: number | undefined;
  level: EventLevel;
  source: string | undefined;
  text: string | undefined;
  /** One more is asked for, to see whether there are more. */
  limit: number;
}

/** The collectors of one family. They only read, and fail with `hv.unsupported` where the guest has nothing to read. */
export interface Inspection {
  info(channel: ProgramRunner, signal: AbortSignal): Promise<OwnFacts>;
  processes(channel: ProgramRunner, signal: AbortSignal): Promise<Listing<GuestProcess>>;
  services(channel: ProgramRunner, signal: AbortSignal): Promise<Listing<GuestService>>;
  /** Newest first, at most one more than the limit. */
  events(channel: ProgramRunner, wish: EventWish, signal: AbortSignal): Promise<Listing<GuestEvent>>;
}
