/** `hvlab follow OP`, the process that hvlab starts to go on with a detached call. */

import { HvError } from "../base/errors.ts";
import { Pipeline } from "../tools/call.ts";
import { Session } from "../tools/session.ts";
import { FOLLOW_COMMAND } from "./commands.ts";
import { watchInterrupts } from "./interrupts.ts";
import type { Line } from "./run_tool.ts";
import { findStateFolder, loadSettings } from "./surroundings.ts";

/** Goes on with the operation to its end, which its record tells, and answers the exit code. */
export async function follow(
  { tokens: [first, stray], options, host, surroundings, catalogue }: Line,
): Promise<number> {
  if (first?.kind !== "word" || stray !== undefined) {
    throw new HvError("hv.usage", `"${FOLLOW_COMMAND}" takes one operation`, {
      hint: "hvlab starts it by itself",
    });
  }
  const settings = await loadSettings(surroundings, host, options, catalogue);
  const state = await findStateFolder(settings, options);
  using interrupts = watchInterrupts(host.terminal);
  const { driver: driverName } = options;
  await using session = new Session({
    ...settings,
    state,
    door: "cli",
    catalogue,
    ...(driverName === undefined ? {} : { driverName }),
    ...(surroundings.openDriver === undefined ? {} : { openDriver: surroundings.openDriver }),
  });
  await new Pipeline(session).follow(first.text, interrupts.signal);
  return 0;
}
