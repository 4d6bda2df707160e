/** JSON values, and the one canonical way to write them that digests are taken over. */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/**
 * Writes a value with object keys in code unit order and no white space, so that equal values give equal text.
 * Fields that are `undefined` are left out, as `JSON.stringify` does.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!isPlainObject(inner)) return inner;
    const sorted: Record<string, unknown> = {};
    for (const key of Object.keys(inner).sort()) sorted[key] = inner[key];
    return sorted;
  });
}

/** Whether a value is an object with named fields, not an array and not null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As {@link isPlainObject}, for a value that is known to have come from JSON, so that its fields are JSON too. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isPlainObject(value);
}

/** An object's copy through JSON text, without fields that are `undefined`; `undefined` when it is no object there. */
export function copyThroughJson(value: unknown): JsonObject | undefined {
  const copy = parseJson(JSON.stringify(value));
  return isJsonObject(copy) ? copy : undefined;
}

/** Parses JSON text whose shape is not known yet; throws a `SyntaxError` for anything that is not JSON. */
export function parseJson(text: string): JsonValue {
  return JSON.parse(text);
}

/** SHA-256 of a text's UTF-8 bytes, in lower-case hexadecimal. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
