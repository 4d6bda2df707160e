/** `hvlab keeper`, the process that hvlab starts for itself. */

import { HvError } from "../base/errors.ts";
import { KEEPER_COMMAND } from "./commands.ts";
import type { Line } from "./run_tool.ts";
import { findStateFolder, loadSettings } from "./surroundings.ts";

/** Is the keeper of the state folder until it is needed no more, and answers the exit code. */
export async function keep(
  { tokens, rest, options, host, surroundings, catalogue }: Line,
): Promise<number> {
  const [stray] = tokens;
  if (stray !== undefined || rest !== undefined) {
    throw new HvError("hv.usage", `"${KEEPER_COMMAND}" does not take "${stray?.text ?? "--"}"`, {
      hint: "hvlab starts it by itself when something needs it",
    });
  }
  if (surroundings.runKeeper === undefined) {
    throw new HvError("hv.unsupported", "This build of hvlab has no keeper", {
      hint: "Everything else works",
    });
  }
  const settings = await loadSettings(surroundings, host, options, catalogue);
  return await surroundings.runKeeper({
    ...settings,
    state: await findStateFolder(settings, options),
    ...(options.driver === undefined ? {} : { driverName: options.driver }),
  });
}
