/** Failures of a call in the words of the command line: flags for fields, and the ways to confirm that only it has. */

import { HvError } from "../base/errors.ts";
import { isPlainObject, type JsonObject } from "../base/json.ts";
import { quoteWord } from "../host/quote_word.ts";
import type { Catalogue, Tool } from "../tools/tool.ts";
import { flagsOf } from "./flags.ts";
import { innerCall } from "./inner_call.ts";
import { usageLine } from "./usage.ts";
import { flagWords, writeCommand, type WrittenFor } from "./write_command.ts";

/** The same failure as a person at the command line reads it; what has no other words here stays as it is. */
export async function inCommandLineWords(
  error: HvError,
  tool: Tool,
  args: JsonObject,
  catalogue: Catalogue,
  writtenFor: WrittenFor,
): Promise<HvError> {
  const { code, context } = error;
  if (code === "hv.plan_required" || code === "hv.plan_invalid") {
    const called = await innerCall(tool, args, catalogue);
    const told = code === "hv.plan_required"
      ? withPlanLine(error, called.tool, called.args, writtenFor)
      : error;
    return withNameHint(told, called.tool, called.args, writtenFor);
  }
  if (code !== "hv.usage" || typeof context.tool !== "string" || !Array.isArray(context.wrong)) return error;
  const called = context.tool === tool.name ? tool : await catalogue.load(context.tool);
  const [first] = context.wrong;
  return isPlainObject(first) ? withFlags(error, called, first) : error;
}

function withFlags(error: HvError, tool: Tool, wrong: Record<string, unknown>): HvError {
  const { field, found, wanted } = wrong;
  if (typeof field !== "string" || typeof found !== "string" || typeof wanted !== "string") return error;
  const [name = ""] = field.split(".");
  const flags = flagsOf(tool);
  const flag = flags.find((candidate) => candidate.option === undefined && candidate.field.name === name);
  if (flag === undefined) return error;
  const { unit } = flag.field;
  const suffix = unit === undefined ? "" : ` ${unit === "mb" ? "MiB" : unit}`;
  const written = tool.rest === name
    ? '"-- PROGRAM..."'
    : tool.positional.includes(name)
    ? name.toUpperCase()
    : `--${flag.names[0]}`;
  return reworded(
    error,
    `${written} is ${found}${suffix}, but ${wanted}`,
    `Usage: ${usageLine(tool, flags)}`,
  );
}

/** The line that makes the token: for exactly these arguments, or the token would not fit. */
function withPlanLine(error: HvError, tool: Tool, args: JsonObject, writtenFor: WrittenFor): HvError {
  if (error.context.tool !== tool.name) return error;
  const line = writeCommand(["plan"], tool, args, ["--json"], writtenFor);
  const { code, message, context, retryable } = error;
  return new HvError(code, message, {
    hint: `Make one with ${line} and pass its "confirm"`,
    context: { ...context, make_plan: line },
    retryable,
  });
}

/** The name confirms what is lost of one thing; of a VM only where hvlab manages it. */
function withNameHint(error: HvError, tool: Tool, args: JsonObject, { os }: WrittenFor): HvError {
  const [first] = tool.positional;
  if (tool.class !== "D" || first === undefined || error.context.tool !== tool.name) return error;
  const { [first]: value } = args;
  const isVm = first === "vm";
  const isOne = typeof value === "string" || (isVm && Array.isArray(value) && value.length === 1);
  if (!isOne) return error;
  const way = isVm
    ? "--confirm NAME with the name of the VM, if hvlab manages it"
    : flagWords("confirm", String(value)).map((word) => quoteWord(word, os)).join(" ");
  return reworded(
    error,
    error.message,
    error.hint === undefined ? `Give ${way}` : `${error.hint}, or give ${way}`,
  );
}

function reworded({ code, context, retryable, cause }: HvError, message: string, hint: string): HvError {
  return new HvError(code, message, { hint, context, retryable, ...(cause === undefined ? {} : { cause }) });
}
