/** What a failure says of the program in the guest that it cut short. */

import { type ErrorCode, HvError } from "../base/errors.ts";

/** Failures by which the caller ends a program that runs. */
const CUT_SHORT: ReadonlySet<ErrorCode> = new Set(["hv.timeout", "hv.cancelled"]);

/**
 * The failure with the program's process id, and with `ended` as `guest_program_ended`: whether it was seen to end with all
 * that it had started. Where the caller ended it the message says that too.
 */
export function withProgramEnd(error: HvError, pid: number, ended: boolean): HvError {
  const { code, message, hint, context, retryable, cause } = error;
  const outcome = ended
    ? "the program in the guest was ended with all that it had started"
    : `it was not seen whether the program in the guest ended, whose process is ${pid}`;
  return new HvError(code, CUT_SHORT.has(code) ? `${message}; ${outcome}` : message, {
    ...(hint === undefined ? {} : { hint }),
    context: { ...context, guest_pid: pid, guest_program_ended: ended },
    retryable,
    cause: cause ?? error,
  });
}
