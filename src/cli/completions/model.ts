/** What the completion scripts of all shells offer. */

import type { Tool } from "../../tools/tool.ts";
import { commandOf, nounOf } from "../commands.ts";
import { type Flag, flagsOf } from "../flags.ts";
import { GLOBAL_FLAGS } from "../globals.ts";

/** A word with what it means. */
export interface Offer {
  word: string;
  summary: string;
}

export interface CompletedFlag extends Offer {
  /** With its dashes. */
  word: string;
  takesValue: boolean;
  choices: readonly string[];
  /** Whether its value may be a path. */
  files: boolean;
}

export interface CompletedCommand {
  /** Such as `vm start`. */
  command: string;
  summary: string;
  flags: CompletedFlag[];
  /** Whether a word behind the command may be a path. */
  files: boolean;
  /** Words that may stand behind the command. */
  choices: readonly string[];
}

export interface CompletionModel {
  /** First words. */
  nouns: Offer[];
  /** Second words by first word. */
  verbs: ReadonlyMap<string, readonly Offer[]>;
  commands: CompletedCommand[];
  globals: CompletedFlag[];
}

/** The shells that scripts are made for. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = typeof SHELLS[number];

/** Words behind which the command proper begins again. */
export const PREFIX_WORDS = ["plan", "help"] as const;

const OWN: readonly CompletedCommand[] = [
  ownCommand("tools", "List all tools with class and summary"),
  ownCommand("mcp", "Serve MCP on stdin and stdout", [
    valueFlag("--toolsets", "The tool families to list"),
    switchFlag("--read-only", "Only tools that read"),
  ]),
  ownCommand("version", "Show the version, the runtime and the folders in use"),
  ownCommand("completions", "Print a completion script", [], SHELLS),
];

/** Fields whose text is never a path. */
const NO_PATHS: ReadonlySet<string> = new Set(["vm", "image", "name", "op", "tool", "query", "env"]);

/** Reads the model off the tools. */
export function completionModel(tools: readonly Tool[]): CompletionModel {
  const commands = [...tools.filter(({ name }) => name !== "plan").map(commandOfTool), ...OWN];
  const verbs = new Map<string, Offer[]>();
  for (const { command, summary } of commands) {
    const [noun = "", verb] = command.split(" ");
    if (verb === undefined) continue;
    verbs.set(noun, [...verbs.get(noun) ?? [], { word: verb, summary }]);
  }
  const single = commands.filter(({ command }) => !command.includes(" "));
  const nouns = [...new Set(tools.map(({ name }) => nounOf(name)))]
    .filter((noun) => verbs.has(noun) && !single.some(({ command }) => command === noun))
    .map((word) => ({ word, summary: (verbs.get(word) ?? []).map((verb) => verb.word).join(", ") }));
  return {
    nouns: [
      ...nouns,
      ...single.map(({ command, summary }) => ({ word: command, summary })),
      { word: "plan", summary: "Preview a destructive call and get the token for it" },
      { word: "help", summary: "Show help" },
    ],
    verbs,
    commands,
    globals: GLOBAL_FLAGS.map(({ name, placeholder, description }) => ({
      word: `--${name}`,
      summary: description,
      takesValue: placeholder !== undefined,
      choices: [],
      files: placeholder === "FILE" || placeholder === "FOLDER",
    })),
  };
}

/** Every flag that is followed by its value. */
export function valueFlags({ commands, globals }: CompletionModel): string[] {
  const flags = [...globals, ...commands.flatMap((command) => command.flags)];
  return [...new Set(flags.filter(({ takesValue }) => takesValue).map(({ word }) => word))];
}

function commandOfTool(tool: Tool): CompletedCommand {
  const flags = flagsOf(tool);
  const placed = flags.filter(({ field, option }) =>
    option === undefined && tool.positional.includes(field.name)
  );
  return {
    command: commandOf(tool.name),
    summary: tool.summary,
    flags: flags.filter(({ field }) => field.name !== tool.rest).flatMap(offersOf),
    files: placed.some(mayBePath),
    choices: placed.flatMap(({ field }) => field.choices ?? []),
  };
}

function offersOf(flag: Flag): CompletedFlag[] {
  const [name = ""] = flag.names;
  const summary = flag.description ?? "";
  if (flag.placeholder === undefined) {
    return [switchFlag(`--${name}`, summary), switchFlag(`--no-${name}`, summary)];
  }
  return [{
    word: `--${name}`,
    summary,
    takesValue: true,
    choices: flag.field.choices ?? [],
    files: mayBePath(flag),
  }];
}

function mayBePath({ field: { name, type, choices, unit }, option }: Flag): boolean {
  const isText = type === "string" || type === "list";
  return isText && choices === undefined && unit === undefined && option === undefined && !NO_PATHS.has(name);
}

function ownCommand(
  command: string,
  summary: string,
  flags: CompletedFlag[] = [],
  choices: readonly string[] = [],
): CompletedCommand {
  return { command, summary, flags, files: false, choices };
}

function switchFlag(word: string, summary: string): CompletedFlag {
  return { word, summary, takesValue: false, choices: [], files: false };
}

function valueFlag(word: string, summary: string): CompletedFlag {
  return { word, summary, takesValue: true, choices: [], files: false };
}
