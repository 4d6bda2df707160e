/** Help pages, all made from the definitions. */

import { VERSION } from "../base/version.ts";
import type { ToolClass } from "../contract/tool_class.ts";
import { visibleText } from "../base/visible_text.ts";
import type { Family, Tool } from "../tools/tool.ts";
import { inColumns } from "./columns.ts";
import { commandOf, nounOf } from "./commands.ts";
import { type Flag, flagsOf } from "./flags.ts";
import { GLOBAL_FLAGS } from "./globals.ts";
import { usageLine } from "./usage.ts";

/** Commands that are not tools, with what they take. */
export const OWN_COMMAND_ROWS: readonly (readonly [command: string, summary: string])[] = [
  ["tools", "List all tools with class and summary"],
  ["plan NOUN VERB ...", "Preview a destructive call and get the token for it"],
  ["mcp", "Serve MCP on stdin and stdout"],
  ["completions SHELL", "Print a completion script: bash, zsh, fish or powershell"],
  ["version", "Show the version, the runtime and the folders in use"],
  ["help [NOUN [VERB]]", "Show help, as --help does"],
];

const CLASS_WORDS: Record<ToolClass, string> = {
  R: "reads",
  M: "changes something, nothing is lost",
  D: "loses something for good, and asks for --confirm",
  X: "runs something inside a guest",
};

const READING_ORDER: readonly Family[] = ["vm", "sandbox", "checkpoint", "guest", "image", "dump"];

/** `hvlab --help`. */
export function overviewHelp(tools: readonly Tool[]): string {
  const shown = tools.filter(({ name }) => name !== "plan");
  const isMeta = ({ family }: Tool): boolean => family === "meta";
  return [
    `hvlab ${VERSION}: test virtual machines and crash dumps, from the shell and over MCP`,
    section("Usage", [["hvlab NOUN VERB [ARGUMENT...] [--flag value...] [-- PROGRAM ARGUMENT...]"]]),
    section("Commands", inReadingOrder(shown.filter((tool) => !isMeta(tool))).map(commandRow)),
    ...(shown.some(isMeta)
      ? [section("About hvlab, and for agents", shown.filter(isMeta).map(commandRow))]
      : []),
    section("More", OWN_COMMAND_ROWS),
    section("Classes", Object.entries(CLASS_WORDS)),
    section("Global flags", globalRows()),
    "A command's own page: hvlab NOUN VERB --help",
  ].join("\n\n");
}

/** What most people come for stands first; the other families follow in the catalogue's order. */
function inReadingOrder(tools: readonly Tool[]): Tool[] {
  const placeOf = ({ family }: Tool): number => {
    const place = READING_ORDER.indexOf(family);
    return place < 0 ? READING_ORDER.length : place;
  };
  return [...tools].sort((a, b) => placeOf(a) - placeOf(b));
}

/** `hvlab vm --help`. */
export function nounHelp(noun: string, tools: readonly Tool[]): string {
  return [
    section("Usage", [[`hvlab ${noun} VERB [ARGUMENT...] [--flag value...]`]]),
    section("Commands", tools.filter(({ name }) => nounOf(name) === noun).map(commandRow)),
    `A command's own page: hvlab ${noun} VERB --help`,
  ].join("\n\n");
}

/** `hvlab vm start --help`. */
export function toolHelp(tool: Tool): string {
  const flags = flagsOf(tool);
  const isPlaced = (flag: Flag): boolean =>
    flag.option === undefined && (tool.positional.includes(flag.field.name) || tool.rest === flag.field.name);
  const placed = [...tool.positional, ...(tool.rest === undefined ? [] : [tool.rest])]
    .flatMap((name) => flags.filter((flag) => flag.option === undefined && flag.field.name === name));
  const rest = flags.filter((flag) => !isPlaced(flag));
  return [
    `${tool.summary} (class ${tool.class}: ${CLASS_WORDS[tool.class]})`,
    section("Usage", [[usageLine(tool, flags)]]),
    ...(placed.length === 0 ? [] : [section("Arguments", placed.map((flag) => argumentRow(tool, flag)))]),
    ...(rest.length === 0 ? [] : [section("Flags", rest.map(flagRow))]),
    section("Global flags", globalRows()),
    ...(tool.runsProgram ? [PROGRAM_EXIT_CODES] : []),
  ].join("\n\n");
}

const PROGRAM_EXIT_CODES = [
  "Exit code: the program's own; 1 when it ended by a signal or its code does not fit;",
  "124 when the time limit passed, 126 when the guest crashed, 125 for every other failure.",
].join("\n");

function commandRow(tool: Tool): string[] {
  return [commandOf(tool.name), tool.class, tool.summary];
}

function argumentRow(tool: Tool, { field, names: [name], description }: Flag): string[] {
  const notes = [description, ...notesOf(field)];
  if (field.name === tool.rest) {
    return ["-- PROGRAM [ARGUMENT...]", "What to run, byte for byte; no shell reads it"];
  }
  return [
    field.name.toUpperCase(),
    joinNotes([...notes, field.required ? undefined : "optional"], `--${name}`),
  ];
}

function flagRow({ names: [name], placeholder, field, description, option }: Flag): string[] {
  const required = field.required && option === undefined ? "required" : undefined;
  const written = placeholder === undefined ? `--${name}, --no-${name}` : `--${name} ${placeholder}`;
  return [written, joinNotes([description, ...notesOf(field), required])];
}

function joinNotes(notes: readonly (string | undefined)[], also?: string): string {
  const text = notes.filter((note) => note !== undefined && note !== "").join("; ");
  if (also === undefined) return text;
  return text === "" ? `also ${also}` : `${text}; also ${also}`;
}

function notesOf({ type, unit, minimum, maximum, default: standard }: Flag["field"]): string[] {
  const notes: string[] = [];
  const suffix = unit === undefined ? "" : ` ${unit === "mb" ? "MiB" : unit}`;
  if (unit === "mb") notes.push("with its unit, such as 256M or 2G; a bare number is MiB");
  if (unit === "bytes") notes.push("with its unit, such as 64K or 2G; a bare number is bytes");
  if (unit === "s" || unit === "ms") notes.push(`such as 90s or 1h30m; a bare number is in ${unit}`);
  if (minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) {
    notes.push(`${minimum} to ${maximum}${suffix}`);
  }
  if (type === "list") notes.push("may be repeated");
  if (standard !== undefined && standard !== false) {
    notes.push(`default ${visibleText(String(standard))}${suffix}`);
  }
  return notes;
}

function globalRows(): string[][] {
  return GLOBAL_FLAGS.map(({ name, placeholder, description }) => [
    placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`,
    description,
  ]);
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  return `${title}:\n${inColumns(rows, "  ")}`;
}
