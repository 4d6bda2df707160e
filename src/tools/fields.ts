/** The flat fields of a tool's input, read off its schema: what flags, help, completions and listings follow from. */

import { isPlainObject } from "../base/json.ts";

export type FieldType = "string" | "integer" | "number" | "boolean" | "enum" | "list" | "object";

/** A unit that a field's name ends in. */
export type FieldUnit = "mb" | "bytes" | "s" | "ms";

export interface Field {
  name: string;
  type: FieldType;
  required: boolean;
  /** The allowed words of an `enum`, or of a `list` of them. */
  choices?: readonly string[];
  default?: string | number | boolean;
  description?: string;
  minimum?: number;
  maximum?: number;
  unit?: FieldUnit;
}

const UNITS: readonly FieldUnit[] = ["mb", "bytes", "s", "ms"];

/** Reads the fields of an object's JSON Schema. */
export function fieldsOf(schema: { [key: string]: unknown }): Field[] {
  const properties = isPlainObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, property]) => {
    if (!isPlainObject(property)) throw new TypeError(`The field "${name}" has no schema of its own`);
    return fieldOf(name, property, required.includes(name));
  });
}

function fieldOf(name: string, property: Record<string, unknown>, required: boolean): Field {
  const unit = UNITS.find((candidate) => name.endsWith(`_${candidate}`));
  const items = isPlainObject(property.items) ? property.items : {};
  const choices = textList(property.enum) ?? textList(items.enum);
  const { default: standard, description, minimum, maximum } = property;
  return {
    name,
    type: typeOf(property),
    required,
    ...(choices === undefined ? {} : { choices }),
    ...(isScalar(standard) ? { default: standard } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof minimum === "number" ? { minimum } : {}),
    ...(typeof maximum === "number" ? { maximum } : {}),
    ...(unit === undefined ? {} : { unit }),
  };
}

function typeOf(property: Record<string, unknown>): FieldType {
  if (property.enum !== undefined) return "enum";
  switch (property.type) {
    case "array":
      return "list";
    case "integer":
    case "number":
    case "boolean":
    case "object":
      return property.type;
    default:
      return "string";
  }
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function textList(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((item) => typeof item === "string");
}
