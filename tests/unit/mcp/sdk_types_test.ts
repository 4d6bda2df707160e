/**
 * The SDK's types are real ones: where they were `any`, each wrong line below would compile, and the compiler would
 * then complain about the directive above it.
 */

import assert from "node:assert/strict";
import {
  type CallToolResult,
  type IncomingCall,
  type ListedTool,
  ProtocolErrorCode,
} from "../../../src/mcp/sdk.ts";
import type { JSONRPCMessage, RequestId, Service, Transport } from "../../../src/mcp/sdk.ts";

Deno.test("wrong shapes do not compile", () => {
  // @ts-expect-error a text is a string
  const result: CallToolResult = { content: [{ type: "text", text: 5 }] };
  // @ts-expect-error there is no such kind of content
  const content: CallToolResult["content"] = [{ type: "smell", text: "x" }];
  // @ts-expect-error an input schema is of type object
  const listed: ListedTool = { name: "x", inputSchema: { type: "array" } };
  // @ts-expect-error an id is a string or a number
  const id: RequestId = null;
  // @ts-expect-error a message has its version
  const message: JSONRPCMessage = { id: 1, method: "ping" };
  // @ts-expect-error a transport sends messages, not text
  const send: Transport["send"] = (text: string) => Promise.resolve(void text);
  // @ts-expect-error a list is a list of tools
  const listTools: Service["listTools"] = () => Promise.resolve([{ title: "no name" }]);
  // @ts-expect-error progress is told with a number
  const notify = (call: IncomingCall) => call.notify?.({ progress: "half", message: "x" });
  // @ts-expect-error the codes are numbers
  const code: string = ProtocolErrorCode.InvalidParams;
  assert.equal([result, content, listed, id, message, send, listTools, notify, code].length, 9);
});
