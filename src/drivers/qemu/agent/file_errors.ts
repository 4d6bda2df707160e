/** What goes wrong with a guest's files on the way through its agent, in the codes of hvlab. */

import type { HvError } from "../../../base/errors.ts";
import { fileFailed, fileMissing } from "../../../guest/posix/file_failures.ts";
import { refused } from "./errors.ts";
import type { AgentAnswer } from "./protocol.ts";

/** The agent refused a file request. */
export function fileRefused(command: string, answer: AgentAnswer & { ok: false }, path: string): HvError {
  if (answer.errorClass === "CommandNotFound") return refused(command, answer);
  if (/no such file/i.test(answer.text)) return fileMissing(path);
  return fileFailed("copy", path, answer.text);
}
