/** From the text of a flag or a positional argument to the value of its field. */

import { HvError } from "../base/errors.ts";
import { isPlainObject, type JsonValue, parseJson } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import { parseDuration, parseSize } from "../base/units.ts";
import type { Field } from "../tools/fields.ts";

/**
 * Reads one value; of a list, one entry. `shown` is how the person wrote the argument: `--memory`, `VM`. Throws
 * `hv.usage` that quotes the value and says what is wanted. Bounds are the tool's own business.
 */
export function readValue(field: Field, text: string, shown: string): JsonValue {
  if (field.choices !== undefined) return readChoice(field.choices, text, shown);
  switch (field.type) {
    case "integer":
    case "number":
      return readNumber(field, text, shown);
    case "boolean":
      return readChoice(["true", "false"], text, shown) === "true";
    case "object":
      return readObject(text, shown);
    default:
      return text;
  }
}

function readNumber(field: Field, text: string, shown: string): number {
  const { unit } = field;
  if (unit !== undefined && !/^[+-]/.test(text)) return readWithUnit(unit, text, shown);
  const form = field.type === "integer" ? /^-?\d+$/ : /^-?\d+(\.\d+)?$/;
  const value = Number(text);
  if (!form.test(text)) {
    throw wrongValue(shown, text, field.type === "integer" ? "a whole number" : "a number");
  }
  if (field.type === "integer" && !Number.isSafeInteger(value)) {
    throw wrongValue(shown, text, "a whole number below 2^53");
  }
  return value;
}

function readWithUnit(unit: "mb" | "bytes" | "s" | "ms", text: string, shown: string): number {
  try {
    return unit === "mb" || unit === "bytes" ? parseSize(text, unit) : parseDuration(text, unit);
  } catch (error) {
    if (!(error instanceof HvError)) throw error;
    const { message, hint, context } = error;
    throw new HvError("hv.usage", `Wrong value for ${shown}: ${message}`, {
      ...(hint === undefined ? {} : { hint }),
      context: { ...context, argument: shown },
    });
  }
}

function readChoice(choices: readonly string[], text: string, shown: string): string {
  if (choices.includes(text)) return text;
  const near = suggest(text, choices);
  throw wrongValue(
    shown,
    text,
    `one of ${choices.join(", ")}`,
    near === undefined ? undefined : `Did you mean "${near}"?`,
  );
}

function readObject(text: string, shown: string): JsonValue {
  try {
    const value = parseJson(text);
    if (isPlainObject(value)) return value;
  } catch {
    // Told below, with what is wanted.
  }
  throw wrongValue(shown, text, "one JSON object", `Write it as ${shown}='{"name": "value"}'`);
}

function wrongValue(shown: string, text: string, wanted: string, hint?: string): HvError {
  const value = text.length <= 80 ? text : `${text.slice(0, 77)}...`;
  return new HvError("hv.usage", `${shown} is "${value}", but wanted is ${wanted}`, {
    ...(hint === undefined ? {} : { hint }),
    context: { argument: shown, value, wanted },
  });
}
