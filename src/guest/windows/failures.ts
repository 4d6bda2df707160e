/** What a script in a Windows guest says when it cannot do something with a file, as our failures. */

import { HvError } from "../../base/errors.ts";

/** A failure as the scripts tell it: one word, and the guest's own text. */
export interface WindowsFailure {
  failure?: string | undefined;
  message?: string | undefined;
}

/** Throws for an answer that is a failure. `action` says what could not be done, as in `write "C:\\x"`. */
export function refuseFailure(
  { failure, message = "" }: WindowsFailure,
  action: string,
  context: Record<string, string>,
): void {
  if (failure === undefined) return;
  const text = `The guest cannot ${action}: ${message.trim().replace(/\.$/, "")}`;
  switch (failure) {
    case "not_found":
      throw new HvError("hv.not_found", text, { hint: "Look at the path in the guest", context });
    case "exists":
      throw new HvError("hv.conflict", `The guest cannot ${action}: it is there already`, {
        hint: "Choose another path, or give --overwrite",
        context: { ...context, wanted: "absent", found: "present" },
      });
    case "is_folder":
      throw new HvError("hv.usage", `The guest cannot ${action}: it is a folder`, {
        hint: "Name a file",
        context,
      });
    case "is_file":
      throw new HvError("hv.usage", `The guest cannot ${action}: it is a file`, {
        hint: "Name a folder",
        context,
      });
    case "kind":
      throw new HvError("hv.conflict", `The guest cannot ${action}: "${message}" is of another kind there`, {
        hint: "Move it away, or choose another path",
        context: { ...context, entry: message },
      });
    case "relative":
      throw new HvError("hv.usage", `The guest path "${message}" is not absolute`, {
        hint: "Begin it with a drive, as in C:\\lab",
        context,
      });
    case "denied":
      throw new HvError("hv.guest_denied", text, { hint: "Log in as an account that may do this", context });
    case "disk_full":
      throw new HvError("hv.io", text, {
        hint: "Free some space in the guest",
        context: { ...context, reason: "disk_full" },
      });
    case "locked":
      throw new HvError("hv.io", text, {
        hint: "Close what uses it in the guest; a dump is in use until it is written",
        context: { ...context, reason: "locked" },
        retryable: true,
      });
    case "differs":
      throw new HvError("hv.io", `The guest cannot ${action}: what arrived there is not what was sent`, {
        hint: "Copy it again",
        context: { ...context, reason: "differs" },
        retryable: true,
      });
    default:
      throw new HvError("hv.job_failed", text, {
        hint: "Look at the guest",
        context: { ...context, reason: failure },
      });
  }
}
