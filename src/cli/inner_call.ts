/** The call that a line is about, where one tool hands it on to another. */

import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { Catalogue, Tool } from "../tools/tool.ts";

/** The tool that does the work, and its arguments: of `call --tool vm_delete --args ...` those of `vm_delete`. */
export async function innerCall(
  tool: Tool,
  args: JsonObject,
  catalogue: Catalogue,
): Promise<{ tool: Tool; args: JsonObject }> {
  if (!tool.delegates || typeof args.tool !== "string") return { tool, args };
  return { tool: await catalogue.load(args.tool), args: isJsonObject(args.args) ? args.args : {} };
}
