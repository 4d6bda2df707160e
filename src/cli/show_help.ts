/** `--help` and `help`: which page is meant. */

import { HvError } from "../base/errors.ts";
import { type Catalogue, FAMILIES } from "../tools/tool.ts";
import { commandsUnder, findCommand, nounOf, OWN_COMMANDS } from "./commands.ts";
import { nounHelp, overviewHelp, OWN_COMMAND_ROWS, toolHelp } from "./help.ts";
import type { Screen } from "./screen.ts";
import type { Token } from "./tokens.ts";

/** Words in front of the command that the page is about. */
const SKIPPED: ReadonlySet<string> = new Set(["help", "plan"]);
const MISSING_COMMAND = 2;

/** What the pages of commands that are not tools say below their usage. */
const MORE_OF_PAGE: Readonly<Record<string, readonly string[]>> = {
  plan: [
    "Examples:",
    "  hvlab plan vm delete web",
    "  hvlab vm delete web --confirm PLAN_ID:DIGEST",
    "",
    'The answer\'s "confirm" is the token: it holds once, for 5 minutes, and for exactly that call.',
  ],
  mcp: [
    "Flags:",
    `  --toolsets A,B  Tools to list: ${[...FAMILIES, "all", "default"].join(", ")}`,
    "  --read-only     List and run only tools of class R",
    "",
    "Example:",
    "  hvlab mcp --toolsets default,checkpoint",
  ],
};

/**
 * Shows a page and answers the exit code: 0, or that of a wrong command line when nothing was asked for at all.
 * Throws `hv.usage` for words that are no command.
 */
export async function showHelp(
  tokens: readonly Token[],
  wasAsked: boolean,
  catalogue: Catalogue,
  screen: Screen,
): Promise<number> {
  if (!wasAsked && screen.json) {
    throw new HvError("hv.usage", "No command is given", { hint: "See hvlab --help" });
  }
  const page = await pageFor(tokens, catalogue);
  if (wasAsked) await screen.answer({ help: page }, () => page);
  else await screen.show(`${page}\n`);
  return wasAsked ? 0 : MISSING_COMMAND;
}

async function pageFor(tokens: readonly Token[], catalogue: Catalogue): Promise<string> {
  const first = tokens.findIndex((token) => token.kind === "word" && !SKIPPED.has(token.text));
  if (first < 0) {
    const planned = tokens.some((token) => token.kind === "word" && token.text === "plan");
    return planned ? ownPage("plan") : overviewHelp(await catalogue.loadAll());
  }
  const words = tokens.slice(first);
  const [noun] = words;
  const isNounAlone = words.filter(({ kind }) => kind === "word").length === 1 && noun?.kind === "word";
  const names = [...catalogue.names, ...OWN_COMMANDS];
  if (isNounAlone && !names.includes(noun.text)) {
    const under = commandsUnder(noun.text, catalogue.names);
    if (under.length > 0) {
      return nounHelp(
        noun.text,
        await Promise.all(under.map((name) => catalogue.load(name))),
      );
    }
  }
  const { name } = findCommand(words, names);
  if (!catalogue.names.includes(name)) return ownPage(name);
  return toolHelp(await catalogue.load(name));
}

function ownPage(command: string): string {
  const row = OWN_COMMAND_ROWS.find(([written]) => nounOf(written.replaceAll(" ", "_")) === command);
  const [written = command, summary = ""] = row ?? [];
  const flags = command === "mcp" ? " [--toolsets A,B] [--read-only]" : "";
  const page = `${summary}\n\nUsage:\n  hvlab ${written}${flags}`;
  const more = MORE_OF_PAGE[command];
  return more === undefined ? page : `${page}\n\n${more.join("\n")}`;
}
