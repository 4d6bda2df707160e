/** A channel whose failures say what has become of the machine behind it. */

import type { Clock } from "../../base/clock.ts";
import { startDeadline } from "../../base/deadline.ts";
import { HvError } from "../../base/errors.ts";
import type { VmState } from "../../contract/vm.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import { surroundChannel } from "../../guest/surround.ts";
import { withLastWords } from "../last_words.ts";

const LOOK_LIMIT_MS = 2_000;
/** A QEMU that was killed a moment ago can still be seen on its way out. */
const LOOK_AGAIN_MS = 50;
const PASSING: ReadonlySet<VmState> = new Set<VmState>(["unknown", "starting"]);

/** How to look at the machine of a channel. */
export interface MachineLook {
  clock: Clock;
  state: (signal: AbortSignal) => Promise<VmState>;
  lastWords: (signal: AbortSignal) => Promise<string | undefined>;
  /** What to do about a crash. */
  wayAfterCrash: string;
}

/** The same channel; its `hv.guest_crashed` carry the guest's last words, its `hv.outcome_unknown` say when the VM is off. */
export function explainLosses(channel: GuestChannel, look: MachineLook): GuestChannel {
  return surroundChannel(channel, async (_, work) => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof HvError ? await explainLoss(error, look) : error;
    }
  });
}

/** The failure with what a look at the machine adds to it; a look that fails adds nothing. */
export async function explainLoss(error: HvError, look: MachineLook): Promise<HvError> {
  if (error.code !== "hv.guest_crashed" && error.code !== "hv.outcome_unknown") return error;
  using limit = startDeadline(look.clock, LOOK_LIMIT_MS);
  try {
    if (error.code === "hv.guest_crashed") {
      return withLastWords(error, await look.lastWords(limit.signal), error.hint ?? look.wayAfterCrash);
    }
    let found = await look.state(limit.signal);
    while (PASSING.has(found)) {
      await look.clock.sleep(LOOK_AGAIN_MS, limit.signal);
      found = await look.state(limit.signal);
    }
    return found === "off" ? machineGone(error) : error;
  } catch {
    return error;
  }
}

function machineGone(error: HvError): HvError {
  return new HvError(error.code, `${error.message}; the VM is off now`, {
    hint: "Its machine ended meanwhile: start the VM again and look how far the guest came",
    context: { ...error.context, found: "off" },
    retryable: error.retryable,
    cause: error.cause ?? error,
  });
}
