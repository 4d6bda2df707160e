/** Failures that say that the guest itself can be asked no more. */

import { HvError } from "../base/errors.ts";

/** Whether after this failure nothing more can be asked of the guest. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof HvError &&
    ["hv.outcome_unknown", "hv.guest_not_ready", "hv.guest_crashed"].includes(error.code);
}
