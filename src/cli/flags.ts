/** The flags of a tool, as its fields and its class make them. Parsing, help and completions all read this list. */

import type { Field } from "../tools/fields.ts";
import type { Tool } from "../tools/tool.ts";
import { GLOBAL_FLAGS } from "./globals.ts";

/** The pipeline's options that a flag can set. */
export type PipelineOption = "confirm" | "timeout_s" | "key";

/** One flag. */
export interface Flag {
  /** Its spellings without `--`, the usual one first. */
  names: readonly string[];
  field: Field;
  /** Set when it is an option of the call and not an argument of the tool. */
  option?: PipelineOption;
  /** What stands for the value in help; `undefined` for a switch. */
  placeholder: string | undefined;
  description: string | undefined;
}

const TAKEN: ReadonlySet<string> = new Set(GLOBAL_FLAGS.map(({ name }) => name));

/** All flags of a tool, arguments first. */
export function flagsOf(tool: Tool): Flag[] {
  const fields = tool.fields();
  const full = new Set(fields.map(({ name }) => kebab(name)));
  const own = fields.map((field) => flagOfField(field, full, tool.help.get(field.name)));
  const taken = new Set(own.flatMap(({ names }) => names));
  return [...own, ...pipelineFlags(tool).filter(({ names }) => !names.some((name) => taken.has(name)))];
}

/** `memory_state` as a flag is spelled: `memory-state`. */
export function kebab(name: string): string {
  return name.replaceAll("_", "-");
}

/** What stands for a field's value in help: `VM`, `SIZE`, `TIME`, `N`, `shutdown|off`. */
export function placeholderOf({ name, type, unit, choices }: Field): string {
  if (choices !== undefined) return choices.join("|");
  if (unit !== undefined) return unit === "mb" || unit === "bytes" ? "SIZE" : "TIME";
  if (type === "integer" || type === "number") return "N";
  if (type === "object") return "JSON";
  return name.toUpperCase();
}

function flagOfField(field: Field, full: ReadonlySet<string>, help: string | undefined): Flag {
  const name = kebab(field.name);
  const short = field.unit === undefined ? undefined : kebab(field.name.slice(0, -field.unit.length - 1));
  const hasShort = short !== undefined && short !== "" && !full.has(short) && !TAKEN.has(short);
  return {
    names: hasShort ? [short, name] : [name],
    field,
    placeholder: field.type === "boolean" ? undefined : placeholderOf(field),
    description: help ?? field.description,
  };
}

function pipelineFlags({ class: toolClass, timed }: Tool): Flag[] {
  const flags: Flag[] = [];
  if (toolClass === "D" || toolClass === "X") {
    flags.push(
      optionFlag("confirm", ["confirm"], "PLAN_ID:DIGEST|NAME", "The plan token, or the target's name"),
    );
  }
  if (timed) {
    flags.push(optionFlag("timeout_s", ["timeout", "timeout-s"], "TIME", "End the work after this time"));
  }
  if (toolClass !== "R") {
    flags.push(optionFlag("key", ["key"], "TEXT", "Idempotency key: the same key gives the same operation"));
  }
  return flags;
}

function optionFlag(option: PipelineOption, names: string[], placeholder: string, description: string): Flag {
  const field: Field = option === "timeout_s"
    ? { name: option, type: "number", required: false, unit: "s" }
    : { name: option, type: "string", required: false };
  return { names, field, option, placeholder, description };
}
