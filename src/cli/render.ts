/** A tool's answer as text for a person, when the tool has no text of its own. */

import { isPlainObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { formatBytes, formatDuration } from "../base/units.ts";
import { visibleLines, visibleText } from "../base/visible_text.ts";
import { inColumns } from "./columns.ts";

const MIB = 1024 * 1024;
/** Below this the short form of a size is the exact one. */
const SMALL_BYTES = 1024;

/**
 * An object as aligned `key: value` lines; a list of objects as a table under its plural. Sizes and durations are
 * shown with their units. Control characters in texts are made visible; a text of several lines stands below its key, each
 * line further in, so that none can pass for another field. `columns` choose and order those of the table that is the whole
 * answer.
 */
export function renderObject(result: JsonObject, columns?: readonly string[]): string {
  const entries = Object.entries(result);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && isTable(only[1])) {
    return renderTable(only[0], only[1], columns);
  }
  const lines: string[][] = [];
  const blocks: string[] = [];
  for (const [key, value] of entries) {
    const label = ownLabelOf(key, result);
    const block = blockOf(key, value);
    if (block === undefined) lines.push([`${label}:`, exactText(key, value)]);
    else blocks.push(`${label}:\n${indented(block)}`);
  }
  return [...(lines.length === 0 ? [] : [inColumns(lines)]), ...blocks].join("\n");
}

/** What takes lines of its own. */
function blockOf(key: string, value: JsonValue): string | undefined {
  if (isTable(value) && value.length > 0) return renderTable(key, value);
  if (isNonEmptyObject(value)) return renderObject(value);
  if (typeof value !== "string") return undefined;
  const text = withoutLastBreak(value);
  return text.includes("\n") ? visibleLines(text) : undefined;
}

/**
 * A list of objects as a table. The columns are the chosen ones that any row has, or all fields in the order in which
 * they first appear.
 */
export function renderTable(
  plural: string,
  rows: readonly JsonObject[],
  chosen?: readonly string[],
): string {
  if (rows.length === 0) return `No ${plural.replaceAll("_", " ")}`;
  const present = new Set(rows.flatMap((row) => Object.keys(row)));
  const columns = chosen?.filter((column) => present.has(column)) ?? [...present];
  return inColumns([
    columns.map((column) => labelOf(column).toUpperCase()),
    ...rows.map((row) => columns.map((column) => shortText(column, row[column]))),
  ]);
}

/** A field's name for people: without the unit that its value shows. */
function labelOf(key: string): string {
  return visibleText(key.replace(/_(mb|bytes|s|ms)$/, "").replaceAll("_", " "));
}

/** The whole name where the short one would be another field's: beside `stdout`, the size is `stdout bytes`. */
function ownLabelOf(key: string, siblings: JsonObject): string {
  const label = labelOf(key);
  const isTaken = Object.keys(siblings).some((other) => other !== key && labelOf(other) === label);
  return isTaken ? visibleText(key.replaceAll("_", " ")) : label;
}

function exactText(key: string, value: JsonValue): string {
  if (typeof value === "string") return visibleText(withoutLastBreak(value));
  const short = shortText(key, value);
  const isRounded = typeof value === "number" && key.endsWith("_bytes") && value >= SMALL_BYTES;
  return isRounded ? `${short} (${value} bytes)` : short;
}

function shortText(key: string, value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return numberText(key, value);
  if (typeof value === "string") return visibleText(value);
  if (!Array.isArray(value)) return visibleText(JSON.stringify(value));
  if (value.length === 0) return "-";
  return value.map((item) => shortText(key, item)).join(", ");
}

function numberText(key: string, value: number): string {
  if (key.endsWith("_bytes")) return formatBytes(value);
  if (key.endsWith("_mb")) return formatBytes(value * MIB);
  if (key.endsWith("_ms")) return formatDuration(value);
  return key.endsWith("_s") ? formatDuration(value * 1000) : String(value);
}

/** A program ends its last line too, so one line is no text of several. */
function withoutLastBreak(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function isTable(value: JsonValue | undefined): value is JsonObject[] {
  return Array.isArray(value) && value.every((item) => isPlainObject(item));
}

function isNonEmptyObject(value: JsonValue): value is JsonObject {
  return isPlainObject(value) && Object.keys(value).length > 0;
}

function indented(text: string): string {
  return text.split("\n").map((line) => `  ${line}`).join("\n");
}
