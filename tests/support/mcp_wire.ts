/** Messages of an MCP server, checked against the protocol's own schemas and taken apart. */

import assert from "node:assert/strict";
import { specTypeSchemas } from "@modelcontextprotocol/client";
import { isPlainObject } from "../../src/base/json.ts";

/** One JSON-RPC message as it came over the wire. */
export type WireMessage = Record<string, unknown>;

/** Every line of a server is one message of the protocol and nothing else. */
export function readWire(line: string): WireMessage {
  const value: unknown = JSON.parse(line);
  const checked = specTypeSchemas.JSONRPCMessage["~standard"].validate(value);
  assert.ok(!("then" in checked) && checked.issues === undefined, `not a message of the protocol: ${line}`);
  assert.ok(isPlainObject(value));
  return value;
}

/** The result inside an answer. */
export function resultOf(answer: WireMessage): Record<string, unknown> {
  assert.ok(isPlainObject(answer.result), JSON.stringify(answer));
  return answer.result;
}

/** The error inside an answer. */
export function errorOf(answer: WireMessage): { code: number; message: string } {
  const { error } = answer;
  assert.ok(isPlainObject(error), JSON.stringify(answer));
  assert.ok(typeof error.code === "number" && typeof error.message === "string");
  return { code: error.code, message: error.message };
}

/** The data of a call that succeeded: structured content, which must say the same as the text. */
export function dataOf(answer: WireMessage): Record<string, unknown> {
  assert.notEqual(resultOf(answer).isError, true, JSON.stringify(answer));
  return contentOf(answer);
}

/** The coded failure of a call. */
export function failureOf(answer: WireMessage): Record<string, unknown> {
  assert.equal(resultOf(answer).isError, true, JSON.stringify(answer));
  return contentOf(answer);
}

function contentOf(answer: WireMessage): Record<string, unknown> {
  const { structuredContent, content } = resultOf(answer);
  assert.ok(isPlainObject(structuredContent));
  assert.deepEqual(content, [{ type: "text", text: JSON.stringify(structuredContent) }]);
  return structuredContent;
}
