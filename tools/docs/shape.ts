/** The fields of an answer, read off its JSON Schema. */

import { code } from "./markdown.ts";

/** One field of an answer. */
export interface AnswerField {
  name: string;
  /** The type in words: `string`, `list of objects`, `"on"` or `"off"`, with `or null` and `optional` where so. */
  type: string;
  meaning: string;
}

/** The fields of an object's schema, those of objects and of lists of objects one level down included. */
export function readShape(schema: unknown): AnswerField[] {
  return propertiesOf(schema).flatMap(({ name, property, optional }) => {
    const inner = innerObject(property);
    const deeper = propertiesOf(inner?.schema).map((field) => ({
      ...describe(field.property, field.optional),
      name: `${name}${inner?.list ? "[]" : ""}.${field.name}`,
    }));
    return [{ ...describe(property, optional), name }, ...deeper];
  });
}

function describe(property: unknown, optional: boolean): Omit<AnswerField, "name"> {
  const description = get(property, "description");
  return {
    type: optional ? `${typeOf(property)}, optional` : typeOf(property),
    meaning: typeof description === "string" ? description : "",
  };
}

function typeOf(property: unknown): string {
  const choices = get(property, "enum");
  if (Array.isArray(choices)) return choices.map((choice) => code(String(choice))).join(", ");
  const constant = get(property, "const");
  if (constant !== undefined) return code(String(constant));
  const alternatives = get(property, "anyOf") ?? get(property, "oneOf");
  if (Array.isArray(alternatives)) return [...new Set(alternatives.map(typeOf))].join(" or ");
  const type = get(property, "type");
  if (type === "array") return `list of ${plural(typeOf(get(property, "items")))}`;
  if (Array.isArray(type)) return type.join(" or ");
  return typeof type === "string" ? type : "any";
}

function plural(type: string): string {
  return /^[a-z]+$/.test(type) && type !== "any" ? `${type}s` : type;
}

function innerObject(property: unknown): { schema: unknown; list: boolean } | undefined {
  if (get(property, "type") === "object") return { schema: property, list: false };
  const items = get(property, "items");
  return get(items, "type") === "object" ? { schema: items, list: true } : undefined;
}

function propertiesOf(schema: unknown): { name: string; property: unknown; optional: boolean }[] {
  const properties = get(schema, "properties");
  const required = get(schema, "required");
  if (typeof properties !== "object" || properties === null) return [];
  return Object.entries(properties).map(([name, property]) => ({
    name,
    property,
    optional: !(Array.isArray(required) && required.includes(name)),
  }));
}

function get(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
