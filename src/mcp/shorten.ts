/** Results that are too long for an answer: the whole goes to a file, head and tail to the host. */

import { HvError, toHvError } from "../base/errors.ts";
import { newUlid } from "../base/ids.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { joinPath } from "../base/paths.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "../state/layout.ts";
import { byteLength, cutText } from "./cut_text.ts";

/** Beyond this many characters hosts cut or refuse an answer. */
export const ANSWER_LIMIT = 40_000;

/** Room for what is added to a shortened result. */
const FRAME = 1_000;

/** Texts up to this length are never cut: they are names, states and paths. */
const SHORT_TEXT = 1_000;

/** How many whole results are kept; the oldest go. */
const KEPT_FILES = 50;

/**
 * The result as it is when it is short. Else the whole is written to a file, and the answer keeps its shape with
 * head and tail of the long texts; a result that is long for another reason gives head and tail of its JSON text.
 * `truncated`, `dropped_bytes` and `file` say what is missing and where it lies.
 */
export async function shorten(result: JsonObject, host: Host, state: StateFolder): Promise<JsonObject> {
  const text = JSON.stringify(result);
  if (text.length <= ANSWER_LIMIT) return result;
  const whole = await keepWhole(text, host, state);
  return cutTexts(result, text, whole) ?? cutJson(text, whole);
}

function cutTexts(result: JsonObject, text: string, whole: JsonObject): JsonObject | undefined {
  const long = longTexts(result);
  const longLength = long.reduce((sum, value) => sum + JSON.stringify(value).length, 0);
  const share = Math.floor((ANSWER_LIMIT - FRAME - (text.length - longLength)) / long.length);
  if (long.length === 0 || share < SHORT_TEXT) return undefined;
  const { data, missing } = cutObject(result, share);
  const shortened = { ...data, truncated: true, dropped_bytes: missing, ...whole };
  return JSON.stringify(shortened).length <= ANSWER_LIMIT ? shortened : undefined;
}

function cutJson(text: string, whole: JsonObject): JsonObject {
  const half = Math.floor((ANSWER_LIMIT - FRAME) / 4);
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  return {
    truncated: true,
    dropped_bytes: byteLength(text) - byteLength(head) - byteLength(tail),
    head,
    tail,
    ...whole,
  };
}

/** All texts over the short length, wherever they stand outside of lists. */
function longTexts(data: JsonObject): string[] {
  return Object.values(data).flatMap((value) => {
    if (typeof value === "string") return value.length > SHORT_TEXT ? [value] : [];
    return isJsonObject(value) ? longTexts(value) : [];
  });
}

/** An object with its long texts cut, and the bytes that are missing from it now. */
interface CutObject {
  data: JsonObject;
  missing: number;
}

/** Objects in which something was cut say so themselves, as they did when something was missing before. */
function cutObject(data: JsonObject, share: number): CutObject {
  const cut: JsonObject = {};
  let here = 0;
  let below = 0;
  for (const [name, value] of Object.entries(data)) {
    if (isJsonObject(value)) {
      const inner = cutObject(value, share);
      cut[name] = inner.data;
      below += inner.missing;
    } else if (typeof value !== "string" || value.length <= SHORT_TEXT) {
      cut[name] = value;
    } else if (name.endsWith("_base64")) {
      cut[name] = beginningOfBase64(value, share);
    } else {
      const { text, droppedBytes } = cutText(value, share);
      cut[name] = text;
      here += missingFrom(data, name, byteLength(value) - droppedBytes, share) ?? droppedBytes;
    }
  }
  return here === 0
    ? { data: cut, missing: below }
    : { data: { ...cut, truncated: true, dropped_bytes: here }, missing: here + below };
}

/**
 * What is missing from a guest's stream, told by the field with its whole length: part of it may have been missing
 * before. Bytes that are no text stand as base64 beside it, and only those are faithful.
 */
function missingFrom(data: JsonObject, name: string, kept: number, share: number): number | undefined {
  const { [`${name}_bytes`]: total, [`${name}_base64`]: base64 } = data;
  if (typeof total !== "number") return undefined;
  return total - (typeof base64 === "string" ? lengthOfBase64(beginningOfBase64(base64, share)) : kept);
}

/** A part of whole groups of four characters, which can be decoded. */
function beginningOfBase64(base64: string, share: number): string {
  return base64.slice(0, share - share % 4);
}

function lengthOfBase64(base64: string): number {
  return base64.length / 4 * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}

/** Names the file with the whole text, or says why there is none: the call itself has succeeded already. */
async function keepWhole(text: string, { files, clock }: Host, state: StateFolder): Promise<JsonObject> {
  const file = joinPath(state.results, `${newUlid(clock.now())}.json`);
  try {
    await files.makeFolder(state.results, { mode: 0o700 });
    await files.writeAtomically(file, text);
    const names = (await files.list(state.results)).map(({ name }) => name).sort();
    for (const name of names.slice(0, -KEPT_FILES)) await files.remove(joinPath(state.results, name));
    return { file };
  } catch (error) {
    const { message } = error instanceof HvError ? error : toHvError(error);
    return { file: null, file_problem: message.slice(0, 300) };
  }
}
