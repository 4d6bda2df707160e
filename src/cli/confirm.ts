/** Confirmation at a terminal: what would be lost is shown, and the target's name is asked for. */

import { HvError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { formatBytes } from "../base/units.ts";
import { visibleText } from "../base/visible_text.ts";
import type { Plan } from "../contract/plan.ts";
import type { Tool } from "../tools/tool.ts";
import { inColumns } from "./columns.ts";
import { commandOf } from "./commands.ts";
import type { Screen } from "./screen.ts";

/** Whether there is a person to ask: stdin and stderr are terminals and the output is for people. */
export function canAsk({ terminal, json }: Screen): boolean {
  return !json && terminal.stdinIsTerminal && terminal.stderr.isTerminal;
}

/**
 * Shows a plan and asks for the target's name as it was typed; a tool without a target asks for its own words.
 * Answers the token. Any other answer, or none, is `hv.cancelled`.
 */
export async function askForName(
  screen: Screen,
  tool: Tool,
  args: JsonObject,
  plan: Plan,
  signal: AbortSignal,
): Promise<string> {
  const word = targetWord(tool, args);
  await screen.show(`${previewText(plan)}\nType ${visibleText(word)} to go on: `);
  const answer = await untilAborted(screen.terminal.readLine(), signal);
  if (answer === undefined) await screen.show("\n");
  if (answer === word) return plan.confirm;
  throw new HvError("hv.cancelled", `"${commandOf(tool.name)}" was not confirmed`, {
    hint: `Nothing was done; it goes on only when "${word}" is typed`,
    context: { tool: tool.name, target: plan.preview.target },
  });
}

/** What a plan says, for a person. */
export function previewText({ preview: { summary, losses } }: Plan): string {
  if (losses.length === 0) return visibleText(summary);
  const rows = losses.map(({ what, path, size_bytes }) => [
    visibleText(what),
    path === undefined ? "" : visibleText(path),
    size_bytes === undefined ? "" : formatBytes(size_bytes),
  ]);
  return `${visibleText(summary)}. Lost for good:\n${inColumns(rows, "  ")}`;
}

function targetWord(tool: Tool, args: JsonObject): string {
  const [first] = tool.positional;
  const named = args.vm ?? (first === undefined ? undefined : args[first]);
  // Several targets have no name in common.
  const target = Array.isArray(named) && named.length === 1 ? named[0] : named;
  return typeof target === "string" ? target : commandOf(tool.name);
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
