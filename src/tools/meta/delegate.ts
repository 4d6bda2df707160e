/** Handing a call on to another tool through the same pipeline. */

import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { describeRunning } from "../running.ts";
import { classOfCall } from "../class_of_call.ts";
import type { CallContext, Provided, Tool } from "../tool.ts";

/** The arguments of a call that is handed on. */
export const DELEGATED_INPUT = {
  tool: z.string(),
  args: z._default(z.record(z.string(), z.unknown()), {}),
};

export const DELEGATED_OUTPUT = z.record(z.string(), z.unknown());

/** What belongs to the call, not to the tool. */
const OPTIONS = ["confirm", "wait_s", "timeout_s"];

/** Calls the other tool, when its class is one that this way is for. */
export async function delegate(
  { tool, args }: { tool: string; args: Record<string, unknown> },
  way: { reads: boolean; instead: string },
  { catalogue, dispatcher, signal, progress, warn, sinks, options }:
    & CallContext
    & Pick<Provided, "catalogue" | "dispatcher">,
): Promise<Record<string, unknown>> {
  const target = await catalogue.load(tool);
  if (target.delegates) {
    throw new HvError("hv.usage", `"${target.name}" cannot be called through another tool`, {
      hint: "Call it directly",
    });
  }
  const callClass = classOfCall(target, args);
  if ((callClass === "R") !== way.reads) {
    throw new HvError("hv.usage", `"${target.name}" is of class ${callClass}`, {
      hint: `Call it with \`hvlab ${way.instead}\``,
      context: { tool: target.name, class: callClass },
    });
  }
  refuseInnerOptions(target, args);
  const surroundings = sinks === undefined ? { signal, progress } : { signal, progress, sinks };
  const answer = await dispatcher.call({ ...options, tool: target.name, args }, surroundings);
  if (answer.kind === "running") return describeRunning(answer);
  answer.warnings.forEach(warn);
  return answer.result;
}

/** A token among the arguments of the inner call would be told as unknown, which does not say where it belongs. */
function refuseInnerOptions({ name }: Tool, args: Record<string, unknown>): void {
  const misplaced = OPTIONS.filter((option) => option in args);
  if (misplaced.length === 0) return;
  throw new HvError("hv.usage", `"${misplaced.join(", ")}" is no argument of "${name}"`, {
    hint: `Give ${misplaced.join(" and ")} beside tool and args`,
    context: { tool: name, misplaced },
  });
}
