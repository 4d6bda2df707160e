/** What surrounds a piece of work in a driver. */

import type { GuestClock } from "../contract/guest.ts";
import type { Progress } from "../contract/operation.ts";

/** What every changing method gets: the end of its time and a place for progress. */
export interface CallScope {
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
  /** Adds a sentence to the answer's warnings, where the caller shows any. */
  readonly warn?: (text: string) => void;
  /** Is told when a guest that was brought back from the past, or stood still, has been told the time. */
  readonly guestClock?: (clock: GuestClock) => void;
}
