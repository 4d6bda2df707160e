/** Reading QEMU's answers, whose shape nobody has proved. */

import { isPlainObject } from "../../../base/json.ts";

/** The objects of a list; nothing when it is none. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

/** A field's text when it is one with characters. */
export function textIn(value: unknown, field: string): string | undefined {
  const found = isPlainObject(value) ? value[field] : undefined;
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** A field's number, else 0. */
export function numberIn(value: unknown, field: string): number {
  const found = isPlainObject(value) ? value[field] : undefined;
  return typeof found === "number" ? found : 0;
}
