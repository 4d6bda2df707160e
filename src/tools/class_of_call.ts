/** The class of one call. A file of its own, since every start asks for it and needs no schemas. */

import type { ToolClass } from "../contract/tool_class.ts";
import type { Tool } from "./tool.ts";

/** The class of one call: a reading tool that is told to write a file, or to fetch one and keep it, changes something. */
export function classOfCall(tool: Tool, args: Readonly<Record<string, unknown>>): ToolClass {
  const writes = tool.writes !== undefined && typeof args[tool.writes] === "string";
  const fetches = tool.fetches !== undefined && args[tool.fetches] === true;
  return tool.class === "R" && (writes || fetches) ? "M" : tool.class;
}
