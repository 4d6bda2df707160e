/** The one line that shows how a command is written. */

import type { Tool } from "../tools/tool.ts";
import { commandOf } from "./commands.ts";
import type { Flag } from "./flags.ts";

/** For example `hvlab vm start VM [--until LEVEL] [--timeout TIME]`; positional arguments stand first. */
export function usageLine(tool: Tool, flags: readonly Flag[]): string {
  const parts = [`hvlab ${commandOf(tool.name)}`];
  for (const name of tool.positional) {
    const field = flags.find((flag) => flag.option === undefined && flag.field.name === name)?.field;
    const shown = field?.type === "list" ? `${name.toUpperCase()}...` : name.toUpperCase();
    parts.push(field?.required ? shown : `[${shown}]`);
  }
  for (const { field, names: [name], placeholder, option } of flags) {
    const isPlaced = option === undefined &&
      (tool.positional.includes(field.name) || tool.rest === field.name);
    if (isPlaced || !field.required) continue;
    parts.push(placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`);
  }
  if (hasOptionalFlag(tool, flags)) parts.push("[--flag value...]");
  if (tool.rest !== undefined) parts.push("-- PROGRAM [ARGUMENT...]");
  return parts.join(" ");
}

function hasOptionalFlag(tool: Tool, flags: readonly Flag[]): boolean {
  return flags.some(({ field, option }) =>
    !field.required &&
    (option !== undefined || (!tool.positional.includes(field.name) && tool.rest !== field.name))
  );
}
