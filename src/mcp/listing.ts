/** The tool list that a host sees: sorted, one page, lean, and the same for the whole life of the server. */

import { isJsonObject, isPlainObject, type JsonObject } from "../base/json.ts";
import type { Catalogue, Tool } from "../tools/tool.ts";
import { inputJsonSchema } from "../tools/json_schema.ts";
import { optionSchemas } from "./options.ts";
import type { ListedTool } from "./sdk.ts";
import type { Selection } from "./selection.ts";

/** The list for a selection. Without toolsets it is the default profile. */
export async function listTools(
  catalogue: Catalogue,
  { toolsets, readOnly }: Selection,
): Promise<ListedTool[]> {
  const families = toolsets.filter((word) => word !== "default");
  const profile = toolsets.length === 0 || toolsets.includes("default")
    ? catalogue.defaultProfile
    : new Set();
  // Families are known only once a tool is loaded; the default profile alone spares loading the others.
  const candidates = families.length > 0 ? await catalogue.loadAll() : await Promise.all(
    catalogue.names.filter((name) => profile.has(name)).map((name) => catalogue.load(name)),
  );
  return candidates
    .filter(({ terminalOnly }) => !terminalOnly)
    .filter(({ name, family }) => families.includes("all") || families.includes(family) || profile.has(name))
    .filter((tool) => !readOnly || tool.class === "R")
    .map((tool) => listingOf(tool, families.includes("all") || families.includes(tool.family)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** One tool in its listed form, with the pipeline's options that a model may use; whole, or without its rare fields. */
function listingOf(tool: Tool, whole: boolean): ListedTool {
  return {
    name: `hv_${tool.name}`,
    description: tool.summary,
    inputSchema: inputSchemaOf(tool, whole),
    annotations: {
      readOnlyHint: tool.class === "R",
      destructiveHint: tool.class === "D" || tool.class === "X",
      idempotentHint: tool.class === "R",
      openWorldHint: false,
    },
  };
}

/** The input schema as it goes over the wire: what costs tokens and tells nothing is left out. */
function inputSchemaOf(tool: Tool, whole: boolean): ListedTool["inputSchema"] {
  const { properties, required } = inputJsonSchema(tool);
  const listed: JsonObject = {};
  if (isPlainObject(properties)) {
    for (const [name, schema] of Object.entries(properties)) {
      if (!whole && tool.unlisted.includes(name)) continue;
      listed[name] = isJsonObject(schema) ? lean(schema) : {};
      // In the long list this would stand seventy times; the server's instructions say it once.
      if (whole && name === "vm" && isJsonObject(listed[name])) delete listed[name].description;
    }
  }
  Object.assign(listed, optionSchemas(tool));
  return {
    type: "object",
    properties: listed,
    ...(Array.isArray(required) && required.length > 0 ? { required: required.map(String) } : {}),
    additionalProperties: false,
  };
}

/**
 * Drops what a model does not need: patterns that an error explains better, free-form object rules, and what goes without
 * saying: that a switch is off and a list empty when left out.
 */
function lean(schema: JsonObject): JsonObject {
  const { pattern: _, minLength: __, maxLength: ___, propertyNames: ____, maxItems: _____, ...rest } = schema;
  if (Array.isArray(rest.anyOf)) {
    // Strict clients want one type: what may be a number or a text is listed as text.
    delete rest.anyOf;
    rest.type = "string";
  }
  if (rest.type === "object") return { type: "object", additionalProperties: true };
  if (isJsonObject(rest.items)) rest.items = lean(rest.items);
  if (rest.default === false || (Array.isArray(rest.default) && rest.default.length === 0)) {
    delete rest.default;
  }
  return rest;
}
