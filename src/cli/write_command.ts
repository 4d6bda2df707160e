/** From a call back to the command line that makes it, for a person to copy into a shell. */

import type { JsonObject, JsonValue } from "../base/json.ts";
import type { OperatingSystem } from "../host/operating_system.ts";
import { quoteWord } from "../host/quote_word.ts";
import type { Tool } from "../tools/tool.ts";
import { commandOf } from "./commands.ts";
import { type Flag, flagsOf } from "./flags.ts";
import type { GlobalOptions } from "./globals.ts";

/** Which shell reads the line, and what the call was given beside its arguments. */
export interface WrittenFor {
  os: OperatingSystem;
  options: Pick<GlobalOptions, "driver" | "config" | "state">;
}

/** The line that calls a tool with these arguments, with `hvlab` and these words before its own, and these flags. */
export function writeCommand(
  before: readonly string[],
  tool: Tool,
  args: JsonObject,
  flags: readonly string[],
  { os, options }: WrittenFor,
): string {
  const { words, named } = placed(tool, args);
  const globals = (["driver", "config", "state"] as const).flatMap((name) => flagWords(name, options[name]));
  const own = flagsOf(tool).filter(({ option, field }) => option === undefined && named.has(field.name));
  const rest = tool.rest === undefined ? undefined : args[tool.rest];
  const line = [
    ...["hvlab", ...before, ...commandOf(tool.name).split(" ")],
    ...words,
    ...own.flatMap((flag) => valueWords(flag, args[flag.field.name])),
    ...globals,
    ...flags,
    ...(Array.isArray(rest) ? ["--", ...rest.map(String)] : []),
  ];
  return line.map((word) => quoteWord(word, os)).join(" ");
}

/** What goes by position, and the names of the arguments that need a flag. */
function placed(tool: Tool, args: JsonObject): { words: string[]; named: ReadonlySet<string> } {
  const named = new Set(Object.keys(args).filter((name) => name !== tool.rest));
  const words: string[] = [];
  for (const name of tool.positional) {
    const values = [args[name] ?? []].flat().map(textOf);
    // A word that begins with a dash is a flag, and one behind a gap stands in another's place.
    if (values.length === 0 || values.some((text) => text.length > 1 && text.startsWith("-"))) break;
    words.push(...values);
    named.delete(name);
  }
  return { words, named };
}

function valueWords({ names: [name = ""], placeholder }: Flag, value: JsonValue | undefined): string[] {
  if (placeholder === undefined) return [value === false ? `--no-${name}` : `--${name}`];
  const values = Array.isArray(value) ? value : [value];
  return values.flatMap((each) => flagWords(name, each === undefined ? undefined : textOf(each)));
}

/** A flag with its value as words of a command line; no word where there is no value. */
export function flagWords(name: string, value: string | undefined): string[] {
  if (value === undefined) return [];
  return value.startsWith("-") ? [`--${name}=${value}`] : [`--${name}`, value];
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
