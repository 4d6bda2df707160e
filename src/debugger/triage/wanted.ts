/** The modules whose symbols would make a triage better. */

import type { Blame } from "../../dump/attribution/blame.ts";
import type { LoadedModule } from "../../dump/modules.ts";
import type { DumpSession } from "../../dump/session.ts";
import { allFrames, type TriageStack } from "./stack.ts";

/** Modules of the stack and the culprit; true for those without whose image the stack cannot go on. */
export function wantedModules(
  session: DumpSession,
  stack: TriageStack,
  blame: Blame | null,
): Map<LoadedModule, boolean> {
  const wanted = new Map<LoadedModule, boolean>();
  const at = ({ address, exact }: { address: bigint; exact: boolean }) =>
    session.modules.at(exact ? address : address - 1n);
  if (blame?.module) wanted.set(blame.module, false);
  for (const frame of allFrames(stack)) {
    const module = at(frame);
    if (module !== null) wanted.set(module, false);
  }
  const last = stack.frames.at(-1);
  const stuck = stack.end === "no_unwind_data" && last !== undefined ? at(last) : null;
  if (stuck !== null) {
    wanted.set(stuck, true);
    for (const { module } of stack.scanned) wanted.set(module, true);
  }
  return wanted;
}
