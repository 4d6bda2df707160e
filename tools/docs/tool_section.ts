/** One tool as a section of its family's page. */

import { commandOf } from "../../src/cli/commands.ts";
import { type Flag, flagsOf } from "../../src/cli/flags.ts";
import { usageLine } from "../../src/cli/usage.ts";
import { outputJsonSchema } from "../../src/tools/json_schema.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { code, table } from "./markdown.ts";
import { readShape } from "./shape.ts";

/** What each safety class means, as short as it goes. */
export const CLASS_MEANING: Readonly<Record<Tool["class"], string>> = {
  R: "reads",
  M: "changes, loses nothing",
  D: "loses something for good: needs a plan token or the target's name",
  X: "runs or types something inside a guest",
};

/** The section: heading, what it does, how it is written, what goes in and what comes out. */
export function toolSection(tool: Tool, isListed: boolean): string {
  const flags = flagsOf(tool);
  const parts = [
    `## ${commandOf(tool.name)}`,
    `${tool.summary}.`,
    `    ${usageLine(tool, flags)}`,
    factsOf(tool, isListed).map((fact) => `- ${fact}`).join("\n"),
  ];
  if (flags.length > 0) parts.push(inputTable(tool, flags));
  const answer = readShape(outputJsonSchema(tool));
  if (answer.length > 0) {
    parts.push(
      "Answer:",
      table(
        ["Field", "Type", "Meaning"],
        answer.map(({ name, type, meaning }) => [code(name), type, meaning]),
      ),
    );
  }
  return parts.join("\n\n");
}

function factsOf(tool: Tool, isListed: boolean): string[] {
  const facts = [
    `Class ${tool.class}: ${CLASS_MEANING[tool.class]}`,
    `Over MCP: ${code(`hv_${tool.name}`)}${
      isListed
        ? ", listed by default"
        : `, reached through ${code(tool.class === "R" ? "hv_read" : "hv_call")}`
    }`,
  ];
  if (tool.delegates) facts[0] = "Class of the tool that it calls";
  if (tool.feature !== undefined) facts.push(`Needs a driver with the feature ${code(tool.feature)}`);
  if (tool.without.length > 0) {
    facts.push(`As a command of its own it first gives up these permissions: ${tool.without.join(", ")}`);
  }
  if (tool.frees) facts.push("Runs even when the store cannot be written");
  return facts;
}

function inputTable(tool: Tool, flags: readonly Flag[]): string {
  return table(
    ["Argument", "On the command line", "Type", "Default", "Meaning"],
    flags.map((flag) => [
      flag.option === undefined ? code(flag.field.name) : "",
      spellings(tool, flag),
      typeOf(flag),
      defaultOf(flag),
      flag.description ?? "",
    ]),
  );
}

function spellings(tool: Tool, { names, field, placeholder, option }: Flag): string {
  const value = placeholder === undefined ? "" : ` ${placeholder}`;
  const written = names.map((name) => code(`--${name}${value}`));
  if (field.type === "boolean") written.push(...names.map((name) => code(`--no-${name}`)));
  if (option === undefined && tool.positional.includes(field.name)) {
    written.unshift(code(field.name.toUpperCase()));
  }
  if (option === undefined && tool.rest === field.name) written.unshift("everything after `--`");
  return written.join(", ");
}

function typeOf({ field }: Flag): string {
  const { type, choices, minimum, maximum, unit } = field;
  const name = choices === undefined
    ? type
    : `${type === "list" ? "list of " : ""}${choices.map(code).join(", ")}`;
  const named = unit === undefined ? name : `${name}, ${UNIT_NAMES[unit]}`;
  // Zod states the largest safe integer where a tool sets no bound of its own.
  const hasMaximum = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  const hasMinimum = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER;
  if (hasMinimum && hasMaximum) return `${named}, ${minimum} to ${maximum}`;
  if (hasMinimum) return `${named}, at least ${minimum}`;
  return hasMaximum ? `${named}, at most ${maximum}` : named;
}

const UNIT_NAMES = { mb: "MiB", bytes: "bytes", s: "seconds", ms: "milliseconds" } as const;

function defaultOf({ field }: Flag): string {
  if (field.required) return "required";
  return field.default === undefined ? "" : code(String(field.default));
}
