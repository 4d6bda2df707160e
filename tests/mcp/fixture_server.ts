/**
 * The product's server factory with the tools that the protocol conformance suite looks for, over HTTP on the
 * loopback. It checks how the SDK is wired, not hvlab's tools. Prints its address and serves until it is killed.
 */

import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { buildServer, type CallToolResult, type IncomingCall, type ListedTool } from "../../src/mcp/sdk.ts";

/** The smallest picture and the shortest sound: one black pixel, and a WAV file without samples. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const TEXT = { type: "text", text: "This is a simple text response for testing." } as const;
const IMAGE = { type: "image", data: PIXEL, mimeType: "image/png" } as const;
const AUDIO = { type: "audio", data: SILENCE, mimeType: "audio/wav" } as const;
const RESOURCE = {
  type: "resource",
  resource: {
    uri: "test://embedded-resource",
    mimeType: "text/plain",
    text: "This is an embedded resource.",
  },
} as const;

interface FixtureTool {
  inputSchema?: ListedTool["inputSchema"];
  call: (call: IncomingCall) => CallToolResult | Promise<CallToolResult>;
}

const NOTHING: ListedTool["inputSchema"] = { type: "object", properties: {}, additionalProperties: false };

/** A schema with the words of JSON Schema 2020-12 that must pass through unchanged. */
const RICH_SCHEMA: ListedTool["inputSchema"] = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const TOOLS: Record<string, FixtureTool> = {
  json_schema_2020_12_tool: { inputSchema: RICH_SCHEMA, call: () => ({ content: [TEXT] }) },
  test_audio_content: { call: () => ({ content: [AUDIO] }) },
  test_embedded_resource: { call: () => ({ content: [RESOURCE] }) },
  test_error_handling: {
    call: () => ({
      content: [{ type: "text", text: "This tool intentionally returns an error for testing" }],
      isError: true,
    }),
  },
  test_image_content: { call: () => ({ content: [IMAGE] }) },
  test_logging_tool: { call: () => ({ content: [TEXT] }) },
  test_multiple_content_types: {
    call: () => ({
      content: [{ type: "text", text: "Multiple content types test:" }, IMAGE, {
        type: "resource",
        resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: "{}" },
      }],
    }),
  },
  test_simple_text: { call: () => ({ content: [TEXT] }) },
  test_streaming_elicitation: { call: () => ({ content: [TEXT] }) },
  test_tool_with_progress: {
    async call({ notify }) {
      for (const progress of [0, 50, 100]) {
        await notify?.({ progress, total: 100, message: `Completed ${progress} of 100` });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return { content: [TEXT] };
    },
  },
};

const handler = createMcpHandler(() =>
  buildServer({
    version: "0.0.0-test",
    instructions: "A server for the conformance suite",
    listTools: () =>
      Promise.resolve(
        Object.entries(TOOLS).map(([name, { inputSchema = NOTHING }]) => ({
          name,
          description: `The fixture ${name}`,
          inputSchema,
        })),
      ),
    callTool: async (call) => {
      const tool = TOOLS[call.name];
      if (tool === undefined) throw new Error(`There is no fixture "${call.name}"`);
      return await tool.call(call);
    },
  })
);

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/mcp`),
}, async (request) => {
  const refusal = hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins());
  return refusal ?? await handler.fetch(request);
});
