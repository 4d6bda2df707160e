/** The pipeline's options among a call's arguments: which tool takes which, and taking them out. */

import { HvError } from "../base/errors.ts";
import { isPlainObject, type JsonObject } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import type { CallOptions, Tool } from "../tools/tool.ts";
import type { IncomingCall } from "./sdk.ts";

/** How long a call holds before it answers with its running operation; hosts give up after a minute. */
const WAIT_S = 45;
const LONGEST_WAIT_S = 50;
const LONGEST_TIMEOUT_S = 86_400;

/** The `_meta` name of the idempotency key. */
export const KEY_IN_META = "hvlab/key";
const KEY_LIMIT = 200;

/** The options that a model sees: `confirm` on D and X, `wait_s` on X and on what waits, `timeout_s` on timed X. */
export function optionSchemas({ class: toolClass, waits, timed }: Tool): JsonObject {
  const isX = toolClass === "X";
  return {
    ...(isX || toolClass === "D" ? { confirm: { type: "string" } } : {}),
    ...(isX || waits ? { wait_s: { type: "integer", minimum: 0, maximum: LONGEST_WAIT_S } } : {}),
    ...(isX && timed ? { timeout_s: { type: "integer", minimum: 1, maximum: LONGEST_TIMEOUT_S } } : {}),
  };
}

/** A call's arguments and options, taken apart. */
export interface SeparatedCall {
  args: unknown;
  options: CallOptions;
}

/**
 * Takes the options out of the arguments; everything else is the tool's. Throws `hv.usage` for an option of a wrong
 * type and for a name that is neither, since a misspelt `confirm` or `read_only` must never be passed over.
 */
export function separateOptions(tool: Tool, { arguments: given, meta }: IncomingCall): SeparatedCall {
  const key = readKey(meta[KEY_IN_META]);
  if (!isPlainObject(given)) return { args: given, options: { wait_s: WAIT_S, ...key } };
  const options: CallOptions = {
    wait_s: WAIT_S,
    ...(given.wait_s === undefined ? {} : { wait_s: readSeconds("wait_s", given.wait_s, 0, LONGEST_WAIT_S) }),
    ...(given.timeout_s === undefined
      ? {}
      : { timeout_s: readSeconds("timeout_s", given.timeout_s, 1, LONGEST_TIMEOUT_S) }),
    ...(given.confirm === undefined ? {} : { confirm: readConfirmation(given.confirm) }),
    ...key,
  };
  const taken = optionsOf(tool);
  const args = Object.fromEntries(Object.entries(given).filter(([name]) => !taken.includes(name)));
  refuseUnknown(tool, Object.keys(args), taken);
  return { args, options };
}

/** What a tool takes is more than what is listed, to spare the list what a model rarely needs. */
function optionsOf({ class: toolClass, waits, timed, delegates }: Tool): string[] {
  return [
    ...(toolClass === "D" || toolClass === "X" ? ["confirm"] : []),
    ...(toolClass !== "R" || waits || delegates ? ["wait_s"] : []),
    ...(timed || delegates ? ["timeout_s"] : []),
  ];
}

function refuseUnknown(tool: Tool, names: readonly string[], options: readonly string[]): void {
  const known = [...tool.fields().map(({ name }) => name), ...options];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const problems = unknown.map((name) => {
    const near = suggest(name, known);
    return `unknown argument "${name}"${near === undefined ? "" : `, did you mean "${near}"`}`;
  });
  throw new HvError("hv.usage", `Wrong arguments for "hv_${tool.name}": ${problems.join("; ")}`, {
    hint: known.length === 0 ? "It takes no arguments" : `It takes ${known.join(", ")}`,
    context: { tool: tool.name, unknown, known },
  });
}

/** `PLAN_ID:DIGEST`, or the object with the two. */
function readConfirmation(confirm: unknown): string {
  if (typeof confirm === "string") return confirm;
  if (isPlainObject(confirm) && typeof confirm.plan_id === "string" && typeof confirm.digest === "string") {
    return `${confirm.plan_id}:${confirm.digest}`;
  }
  throw new HvError("hv.usage", "confirm must be the text PLAN_ID:DIGEST", {
    hint: "Pass the confirm of hv_plan's answer as it is",
    context: { argument: "confirm" },
  });
}

function readSeconds(name: string, value: unknown, minimum: number, maximum: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum) {
    return value;
  }
  throw new HvError(
    "hv.usage",
    `"${name}" is ${
      JSON.stringify(value).slice(0, 80)
    }, but wanted is a whole number from ${minimum} to ${maximum}`,
    { hint: "Give seconds", context: { argument: name, minimum, maximum } },
  );
}

function readKey(key: unknown): Pick<CallOptions, "key"> {
  if (key === undefined) return {};
  if (typeof key === "string" && key !== "" && key.length <= KEY_LIMIT) return { key };
  throw new HvError("hv.usage", `"${KEY_IN_META}" must be a text of 1 to ${KEY_LIMIT} characters`, {
    hint: "Use a new random text for every different call",
    context: { argument: KEY_IN_META },
  });
}
