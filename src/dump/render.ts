/** A dump inspection as text for people: one field per line, in the order of the contract. */

import type { BugcheckArgument, DumpInspection, DumpWarning } from "../contract/dump.ts";
import { visibleText } from "../base/visible_text.ts";

/** What stands for a field that was never written. */
export const NOT_RECORDED = "not recorded";

/** Fields that come from tables of ours: null there says that the tables have nothing. */
const LOOKED_UP: ReadonlySet<string> = new Set([
  "bugcheck_name",
  "description",
  "reference",
  "os_name",
  "exception_name",
]);

const ARGUMENT_NAMES = ["arg1", "arg2", "arg3", "arg4"];

/**
 * Renders an inspection. Names are those of the JSON form; arguments carry their meaning on the same line; each
 * warning has its own line at the end. Ends without a line break.
 */
export function renderInspection(inspection: DumpInspection): string {
  const lines: [name: string, text: string][] = [];
  for (const [name, value] of Object.entries(inspection)) {
    if (name === "arguments" || name === "warnings") continue;
    const argument = inspection.arguments?.[ARGUMENT_NAMES.indexOf(name)];
    const shown = argument === undefined ? renderValue(value) : renderArgument(argument);
    lines.push([name, value === null && LOOKED_UP.has(name) ? "not known" : shown]);
  }
  for (const warning of inspection.warnings) lines.push(["warning", renderWarning(warning)]);
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join("\n");
}

function renderArgument({ value, meaning }: BugcheckArgument): string {
  return value === null ? NOT_RECORDED : visibleText(`${value}  ${meaning ?? "not documented"}`);
}

function renderWarning({ reason, message }: DumpWarning): string {
  return visibleText(`${reason}: ${message}`);
}

function renderValue(value: unknown): string {
  if (value === null || value === undefined) return NOT_RECORDED;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(renderElement).join(", ");
  return visibleText(String(value));
}

function renderElement(element: unknown): string {
  if (isRun(element)) return `${BigInt(element.first_page)}+${BigInt(element.pages)}`;
  return visibleText(String(element));
}

function isRun(element: unknown): element is { first_page: string; pages: number | string } {
  return typeof element === "object" && element !== null && "first_page" in element && "pages" in element;
}
