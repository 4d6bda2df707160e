/**
 * The flat fields of a tool's input, read off its schema: what flags, help and completions follow from. Read from
 * the schema itself and not from its JSON Schema, whose making costs more than the rest of a command line's parsing.
 */

import * as z from "zod/mini";

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

/** Reads the fields of an object's shape. */
export function fieldsOf(shape: Readonly<Record<string, z.core.$ZodType>>): Field[] {
  return Object.entries(shape).map(([name, schema]) => fieldOf(name, schema));
}

function fieldOf(name: string, schema: z.core.$ZodType): Field {
  const { inner, required, standard, description } = unwrap(schema);
  const unit = UNITS.find((candidate) => name.endsWith(`_${candidate}`));
  const choices = choicesOf(inner);
  return {
    name,
    type: typeOf(inner),
    required,
    ...(choices === undefined ? {} : { choices }),
    ...(isScalar(standard) ? { default: standard } : {}),
    ...(description === undefined ? {} : { description }),
    ...boundsOf(inner),
    ...(unit === undefined ? {} : { unit }),
  };
}

/** Takes `optional` and `default` off, and keeps what they and the schema inside say. */
function unwrap(schema: z.core.$ZodType): {
  inner: z.core.$ZodType;
  required: boolean;
  standard: unknown;
  description: string | undefined;
} {
  let inner = schema;
  let required = true;
  let standard: unknown;
  let description = describe(schema);
  for (;;) {
    if (inner instanceof z.ZodMiniDefault) standard = inner._zod.def.defaultValue;
    else if (!(inner instanceof z.ZodMiniOptional)) break;
    required = false;
    inner = inner._zod.def.innerType;
    description ??= describe(inner);
  }
  return { inner, required, standard, description };
}

function describe(schema: z.core.$ZodType): string | undefined {
  return z.globalRegistry.get(schema)?.description;
}

function typeOf(schema: z.core.$ZodType): FieldType {
  switch (schema._zod.def.type) {
    case "array":
      return "list";
    case "enum":
      return "enum";
    case "boolean":
      return "boolean";
    case "number":
      return isWhole(schema) ? "integer" : "number";
    case "record":
    case "object":
      return "object";
    default:
      return "string";
  }
}

function isWhole({ _zod: { def } }: z.core.$ZodType): boolean {
  return "format" in def && String(def.format).includes("int");
}

function choicesOf(schema: z.core.$ZodType): string[] | undefined {
  if (schema instanceof z.ZodMiniArray) return choicesOf(schema._zod.def.element);
  return schema instanceof z.ZodMiniEnum ? Object.values(schema._zod.def.entries).map(String) : undefined;
}

/** The bounds that a number's checks state, both ends included. */
function boundsOf(schema: z.core.$ZodType): { minimum?: number; maximum?: number } {
  const bounds: { minimum?: number; maximum?: number } = {};
  for (const { _zod: { def } } of schema._zod.def.checks ?? []) {
    if (!("value" in def) || typeof def.value !== "number") continue;
    if (def.check === "greater_than") bounds.minimum = def.value;
    if (def.check === "less_than") bounds.maximum = def.value;
  }
  return bounds;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
