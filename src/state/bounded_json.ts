/** JSON text of bounded size for the store. */

import type { JsonValue } from "../base/json.ts";

/** The most bytes of one result or error that the store keeps. */
export const MAX_STORED_BYTES: number = 256 * 1024;

/**
 * The JSON text of a value. When it is longer than the limit, the text of
 * `{"truncated": true, "dropped_bytes": N, "head": "..."}` instead, where `head` is the beginning of the JSON text.
 */
export function boundedJson(value: JsonValue, limit: number = MAX_STORED_BYTES): string {
  const text = JSON.stringify(value);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= limit) return text;
  const head = cutToBytes(text, limit);
  const dropped = bytes - new TextEncoder().encode(head).length;
  return JSON.stringify({ truncated: true, dropped_bytes: dropped, head });
}

/** The longest beginning of a text whose UTF-8 form fits; a character is never cut in half. */
export function cutToBytes(text: string, limit: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limit));
  return text.slice(0, read);
}
