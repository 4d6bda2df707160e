/** A tool's schemas as JSON Schema: for lists and references of tools. No call needs it, so no tool imports it. */

import { HvError } from "../base/errors.ts";
import { copyThroughJson, type JsonObject } from "../base/json.ts";
import { toJSONSchema } from "./schema_writer.ts";
import type { Tool } from "./tool.ts";

/** What a tool's arguments look like, without `$schema`. */
export function inputJsonSchema({ name, input }: Tool): JsonObject {
  return jsonSchemaOf(input, "input", name);
}

/** What a tool's result looks like, without `$schema`. */
export function outputJsonSchema({ name, output }: Tool): JsonObject {
  return jsonSchemaOf(output, "output", name);
}

function jsonSchemaOf(schema: Tool["input"], io: "input" | "output", tool: string): JsonObject {
  const { $schema: _, ...rest } = toJSONSchema(schema, { io });
  const copy = copyThroughJson(rest);
  if (copy !== undefined) return copy;
  throw new HvError("hv.internal", `The ${io} of the tool "${tool}" has no JSON Schema`);
}
