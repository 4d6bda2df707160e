/** What a host gets back: the same compact JSON as structured content and as text, never too long. */

import type { HvError } from "../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { byteLength, cutText } from "./cut_text.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "../state/layout.ts";
import type { CallAnswer } from "../tools/tool.ts";
import { describeRunning } from "../tools/running.ts";
import type { CallToolResult } from "./sdk.ts";
import { shorten } from "./shorten.ts";

/** Errors must stay far below what hosts show of one; measured in bytes of the JSON text. */
const ERROR_LIMIT_BYTES = 2_000;
const MESSAGE_LIMIT_BYTES = 700;
const HINT_LIMIT_BYTES = 500;

/** The field in which a tool gives a picture; hosts show it as one. */
const PICTURE = "png_base64";

/**
 * A call's data, or the operation that goes on. A picture in it becomes content of its own, and failures inside, such as
 * those of single VMs, name tools as a failed call does.
 */
export async function answerOf(
  answer: CallAnswer,
  host: Host,
  state: StateFolder,
  tools: readonly string[],
): Promise<CallToolResult> {
  if (answer.kind === "running") return wrap(describeRunning(answer));
  const { warnings } = answer;
  const result = nameToolsInside(answer.result, tools);
  const whole = warnings.length === 0 ? result : { ...result, warnings };
  const { [PICTURE]: picture, ...told } = whole;
  if (typeof picture !== "string") return wrap(await shorten(whole, host, state));
  const { content, ...rest } = wrap(await shorten(told, host, state));
  return { ...rest, content: [{ type: "image", data: picture, mimeType: "image/png" }, ...content] };
}

/**
 * A failure as the tool's own result, so that the model reads it and can act. Hints that name a command of the
 * command line name the tool instead.
 */
export function failureOf(error: HvError, tools: readonly string[]): CallToolResult {
  const envelope = shortEnvelope(error);
  const { hint } = envelope;
  return {
    ...wrap(typeof hint === "string" ? { ...envelope, hint: nameTools(hint, tools) } : envelope),
    isError: true,
  };
}

function nameToolsInside(data: JsonObject, tools: readonly string[]): JsonObject {
  const isFailure = typeof data.code === "string" && data.code.startsWith("hv.");
  const walk = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(walk);
    return isJsonObject(value) ? nameToolsInside(value, tools) : value;
  };
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      isFailure && name === "hint" && typeof value === "string" ? nameTools(value, tools) : walk(value),
    ]),
  );
}

function nameTools(hint: string, tools: readonly string[]): string {
  return hint.replaceAll(/\bhvlab ([a-z]+)(?: ([a-z-]+))?/g, (command, first: string, second = "") => {
    const name = `${first}_${second.replaceAll("-", "_")}`;
    if (tools.includes(name)) return `hv_${name}`;
    return tools.includes(first) ? `hv_${first}${second === "" ? "" : ` ${second}`}` : command;
  });
}

/** The whole envelope when it is short; else its texts cut and the facts of its context that still fit. */
export function shortEnvelope(error: HvError): JsonObject {
  const { message, hint, context, ...rest } = error.toEnvelope();
  const whole: JsonObject = { ...error.toEnvelope() };
  if (sizeOf(whole) <= ERROR_LIMIT_BYTES) return whole;
  const short = {
    ...rest,
    message: cutText(message, MESSAGE_LIMIT_BYTES).text,
    ...(hint === undefined ? {} : { hint: cutText(hint, HINT_LIMIT_BYTES).text }),
    truncated: true,
  };
  const kept: { [name: string]: JsonValue } = {};
  for (const [name, value] of Object.entries(context)) {
    if (sizeOf({ ...short, context: { ...kept, [name]: value } }) <= ERROR_LIMIT_BYTES) kept[name] = value;
  }
  return { ...short, context: kept };
}

function sizeOf(data: JsonObject): number {
  return byteLength(JSON.stringify(data));
}

function wrap(data: JsonObject): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(data) }], structuredContent: data };
}
