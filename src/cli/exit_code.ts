/** What a command's end means to the shell. */

import type { HvError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Tool } from "../tools/tool.ts";

/** The reader of stdout went away: what a program ended by SIGPIPE gives. */
export const READER_GONE = 141;
/** A second Ctrl-C: what a program ended by SIGINT gives. */
export const INTERRUPTED = 130;

const OUR_FAILURE = 125;
const TIME_LIMIT = 124;
const GUEST_CRASHED = 126;
const BAD_REVISION = 1;
const HIGHEST_CODE = 255;

/** How a tool's end becomes an exit code. */
export interface ExitRules {
  /** The tool runs a guest program, whose own code counts. */
  runsProgram: boolean;
  /** Only 0, 1 and 125, as `git bisect run` wants it. */
  bisect: boolean;
}

/** The code of a finished call. */
export function exitCodeOf(tool: Tool, result: JsonObject, { bisect }: ExitRules): number {
  if (!tool.runsProgram) return tool.exitCode(result);
  const code = programCode(result);
  return bisect && code !== 0 ? BAD_REVISION : code;
}

/** The code of a failed call. A guest that hangs or crashes is what a bisection looks for. */
export function failureCodeOf(error: HvError, { runsProgram, bisect }: ExitRules): number {
  if (!runsProgram) return error.exitCode;
  if (error.code === "hv.timeout") return bisect ? BAD_REVISION : TIME_LIMIT;
  if (error.code === "hv.guest_crashed") return bisect ? BAD_REVISION : GUEST_CRASHED;
  return OUR_FAILURE;
}

/** The code when output has no reader, or the person would not wait for the end. */
export function brokenOffCodeOf(
  code: typeof READER_GONE | typeof INTERRUPTED,
  { runsProgram }: ExitRules,
): number {
  return runsProgram ? OUR_FAILURE : code;
}

/** The program's own code; 1 when it ended by a signal or its code does not fit, never 0 for those. */
function programCode({ exit_code: code }: JsonObject): number {
  const fits = typeof code === "number" && code >= 0 && code <= HIGHEST_CODE;
  return fits ? code : 1;
}
