/** What the tool list costs a model: tokens over name, description and input schema of each listed tool. */

import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { McpSession } from "./mcp_session.ts";
import { bundleArguments } from "./program.ts";
import type { Row } from "./report.ts";

/** Counts the default list and the list of everything. */
export async function measureTokens(): Promise<Row[]> {
  const listed = await listTools(["mcp"]);
  const all = await listTools(["mcp", "--toolsets", "all"]);
  return [
    { what: "tools listed by default", value: listed.length, target: 20 },
    { what: "tokens of the default list", value: tokensOf(listed), target: 1800 },
    { what: "tools in all", value: all.length },
    { what: "tokens of everything", value: tokensOf(all), target: 9000 },
  ];
}

async function listTools(args: string[]): Promise<unknown[]> {
  await using session = new McpSession(bundleArguments(args));
  await session.initialize();
  const result = await session.request("tools/list");
  const tools = typeof result === "object" && result !== null ? Reflect.get(result, "tools") : undefined;
  if (!Array.isArray(tools)) throw new Error("tools/list did not answer with a list");
  return tools;
}

function tokensOf(tools: readonly unknown[]): number {
  return tools.reduce<number>((sum, tool) => {
    if (typeof tool !== "object" || tool === null) return sum;
    const { name, description, inputSchema } = { name: "", description: "", inputSchema: {}, ...tool };
    return sum + encode(JSON.stringify({ name, description, inputSchema })).length;
  }, 0);
}
