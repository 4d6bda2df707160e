/** Commands that are tools, and `plan` before them. */

import { HvError } from "../base/errors.ts";
import type { Host } from "../host/host.ts";
import type { Catalogue, Tool } from "../tools/tool.ts";
import { parseCall } from "./arguments.ts";
import { findCommand } from "./commands.ts";
import { execute } from "./execute.ts";
import type { GlobalOptions } from "./globals.ts";
import type { Screen } from "./screen.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Token } from "./tokens.ts";

/** A command line without its global flags, and all that a command may need. */
export interface Line {
  tokens: Token[];
  rest: string[] | undefined;
  options: GlobalOptions;
  host: Host;
  screen: Screen;
  surroundings: Surroundings;
  catalogue: Catalogue;
}

/** Runs a tool; `tokens` are what stands beside its words. */
export async function runTool(line: Line, tool: Tool): Promise<number> {
  return await execute({ ...line, tool, call: parseCall(tool, line.tokens, line.rest) });
}

/** `plan vm delete web`: the arguments are those of the planned command. `plan` is the planning tool itself. */
export async function runPlan(line: Line, plan: Tool): Promise<number> {
  const { catalogue, tokens, rest } = line;
  if (tokens.length === 0) {
    throw new HvError("hv.usage", `"plan" needs the command that is to be planned`, {
      hint: "Write it as hvlab plan NOUN VERB ..., for example hvlab plan vm delete web",
    });
  }
  const found = findCommand(tokens, catalogue.names.filter((name) => name !== plan.name));
  const target = await catalogue.load(found.name);
  const { args, confirm } = parseCall(target, found.tokens, rest);
  if (confirm !== undefined) {
    throw new HvError("hv.usage", `"plan" makes the token that --confirm takes`, {
      hint: "Leave --confirm out",
      context: { tool: target.name },
    });
  }
  return await execute({ ...line, tool: plan, call: { args: { tool: target.name, args } } });
}
