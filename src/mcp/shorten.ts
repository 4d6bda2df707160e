/** Results that are too long for an answer: the whole goes to a file, head and tail to the host. */

import { HvError, toHvError } from "../base/errors.ts";
import { newUlid } from "../base/ids.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../base/json.ts";
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
  const cut = cutLongTexts(result, share);
  const before = typeof result.dropped_bytes === "number" ? result.dropped_bytes : 0;
  const shortened = { ...cut.data, truncated: true, dropped_bytes: before + cut.droppedBytes, ...whole };
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
    return isObject(value) ? longTexts(value) : [];
  });
}

function cutLongTexts(data: JsonObject, share: number): { data: JsonObject; droppedBytes: number } {
  const shortened: JsonObject = {};
  let droppedBytes = 0;
  for (const [name, value] of Object.entries(data)) {
    if (isObject(value)) {
      const inner = cutLongTexts(value, share);
      shortened[name] = inner.data;
      droppedBytes += inner.droppedBytes;
    } else if (typeof value !== "string" || value.length <= SHORT_TEXT) {
      shortened[name] = value;
    } else if (name.endsWith("_base64")) {
      // The same bytes stand as text beside it, where they are counted. A part of four characters can be decoded.
      shortened[name] = value.slice(0, share - share % 4);
    } else {
      const cut = cutText(value, share);
      shortened[name] = cut.text;
      droppedBytes += cut.droppedBytes;
    }
  }
  return { data: shortened, droppedBytes };
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

function isObject(value: JsonValue | undefined): value is JsonObject {
  return isPlainObject(value);
}
