/** What goes wrong with a guest's files on the way through its agent, in the codes of hvlab. */

import { HvError } from "../../../base/errors.ts";
import { fileFailed, fileMissing } from "../../../guest/posix/file_failures.ts";
import { refused } from "./errors.ts";
import type { AgentAnswer } from "./protocol.ts";

/** The agent's words for a handle that it does not know. */
const HANDLE_LOST = /^handle .* has not been found/i;

/** The agent refused a file request. */
export function fileRefused(command: string, answer: AgentAnswer & { ok: false }, path: string): HvError {
  if (answer.errorClass === "CommandNotFound") return refused(command, answer);
  if (HANDLE_LOST.test(answer.text)) {
    return new HvError("hv.outcome_unknown", `The guest agent no longer has "${path}" open: ${answer.text}`, {
      hint: "The agent or the guest was restarted meanwhile; look at the guest before trying again",
      context: { path, reason: answer.text },
    });
  }
  if (/no such file/i.test(answer.text)) return fileMissing(path);
  return fileFailed("copy", path, answer.text);
}

/** Whether the agent answers but no longer has a file open: the outcome is unknown, and it can be asked for more. */
export function isHandleLost(error: unknown): boolean {
  return error instanceof HvError && HANDLE_LOST.test(String(error.context.reason));
}
