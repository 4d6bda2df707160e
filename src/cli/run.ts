/** From an argument vector to an exit code. */

import { toHvError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import { ReaderGone } from "../host/terminal.ts";
import { findCommand, FOLLOW_COMMAND, KEEPER_COMMAND, OWN_COMMANDS, type OwnCommand } from "./commands.ts";
import { failureCodeOf, READER_GONE } from "./exit_code.ts";
import { takeGlobals, wantsJson } from "./globals.ts";
import { type Line, runPlan, runTool } from "./run_tool.ts";
import { Screen } from "./screen.ts";
import type { Surroundings } from "./surroundings.ts";
import { type Token, tokenize } from "./tokens.ts";

/** Does what the command line says and answers the exit code. Never throws, and never exits by itself. */
export async function run(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { tokens, rest } = tokenize(argv);
  const host = surroundings.openHost();
  let screen = new Screen(host.terminal, { json: wantsJson(tokens), quiet: false });
  try {
    const taken = takeGlobals(tokens);
    screen = new Screen(host.terminal, taken.options);
    if (taken.options.version) {
      await screen.answer({ version: VERSION }, () => `hvlab ${VERSION}`);
      return 0;
    }
    return await runCommand({
      ...taken,
      rest,
      host,
      screen,
      surroundings,
      catalogue: surroundings.catalogue,
    });
  } catch (thrown) {
    if (thrown instanceof ReaderGone) return READER_GONE;
    const error = toHvError(thrown);
    await screen.fail(error);
    return failureCodeOf(error, { runsProgram: await runsProgram(tokens, surroundings), bisect: false });
  }
}

/** Whether a line that failed before its tool was called was meant to run a guest program. */
async function runsProgram(tokens: readonly Token[], { catalogue }: Surroundings): Promise<boolean> {
  try {
    const { name } = findCommand(tokens, [...catalogue.names, ...OWN_COMMANDS]);
    return catalogue.names.includes(name) && (await catalogue.load(name)).runsProgram;
  } catch {
    return false;
  }
}

async function runCommand(line: Line): Promise<number> {
  const { tokens, options, catalogue, screen } = line;
  if (options.help || tokens.length === 0 || isWord(tokens[0], "help")) {
    const { showHelp } = await import("./show_help.ts");
    return await showHelp(tokens, options.help || tokens.length > 0, catalogue, screen);
  }
  // Not a person's command: hvlab starts it, always with this word first.
  if (isWord(tokens[0], KEEPER_COMMAND)) {
    const { keep } = await import("./keep.ts");
    return await keep({ ...line, tokens: tokens.slice(1) });
  }
  if (isWord(tokens[0], FOLLOW_COMMAND)) {
    const { follow } = await import("./follow.ts");
    return await follow({ ...line, tokens: tokens.slice(1) });
  }
  const names = [...catalogue.names, ...OWN_COMMANDS];
  const found = findCommand(tokens, names);
  const own = ownCommand(found.name);
  if (own !== undefined) {
    const { runOwnCommand } = await import("./own_commands.ts");
    return await runOwnCommand(own, { ...line, tokens: found.tokens });
  }
  const tool = await catalogue.load(found.name);
  return await (tool.name === "plan" ? runPlan : runTool)({ ...line, tokens: found.tokens }, tool);
}

function ownCommand(name: string): Exclude<OwnCommand, "help"> | undefined {
  return OWN_COMMANDS.find((own): own is Exclude<OwnCommand, "help"> => own === name && own !== "help");
}

function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === "word" && token.text === text;
}
