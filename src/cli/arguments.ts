/** From the pieces of a command line to the arguments of a tool and the options of its call. */

import { HvError } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import type { Tool } from "../tools/tool.ts";
import { commandOf } from "./commands.ts";
import { type Flag, flagsOf, kebab } from "./flags.ts";
import { givenTwice, GLOBAL_FLAGS, takesNoValue, valueOf } from "./globals.ts";
import type { Token } from "./tokens.ts";
import { usageLine } from "./usage.ts";
import { readValue } from "./values.ts";

/** A call as the command line states it; the tool itself checks bounds and forms. */
export interface ParsedCall {
  args: JsonObject;
  confirm?: string;
  timeout_s?: number;
  key?: string;
}

/**
 * Reads what stands beside a command's words. `rest` is what stood after `--`. Throws `hv.usage` for an unknown
 * flag, a value of the wrong type, an argument too many, given twice or missing; the hint lists what is known.
 */
export function parseCall(
  tool: Tool,
  tokens: readonly Token[],
  rest: readonly string[] | undefined,
): ParsedCall {
  const flags = flagsOf(tool);
  const collected = new Collected(tool, flags);
  const words: string[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) continue;
    if (token.kind === "word") {
      words.push(token.text);
      continue;
    }
    const { flag, negated } = findFlag(tool, flags, token);
    if (flag.placeholder === undefined) {
      if (token.value !== undefined) throw takesNoValue(token.text, switchHint(flag));
      collected.set(flag, !negated, token.text);
      continue;
    }
    const value = valueOf(token, tokens[index + 1]);
    if (token.value === undefined) index++;
    collected.set(flag, readValue(flag.field, value, token.text), token.text);
  }
  if (tool.rest === undefined) words.push(...rest ?? []);
  collected.place(words);
  if (tool.rest !== undefined && rest !== undefined) collected.setRest(tool.rest, rest);
  return collected.finish();
}

class Collected {
  readonly #tool: Tool;
  readonly #flags: readonly Flag[];
  readonly #given = new Map<Flag, { value: JsonValue; shown: string }>();

  constructor(tool: Tool, flags: readonly Flag[]) {
    this.#tool = tool;
    this.#flags = flags;
  }

  /** Takes a flag's value; a list grows, anything else is given once. */
  set(flag: Flag, value: JsonValue, shown: string): void {
    const before = this.#given.get(flag);
    if (flag.field.type === "list") {
      const list = Array.isArray(before?.value) ? before.value : [];
      this.#given.set(flag, { value: [...list, value], shown });
      return;
    }
    if (before !== undefined) throw givenTwice(shown);
    this.#given.set(flag, { value, shown });
  }

  /** Gives the words their fields by position; a list in the last position takes all that is left. */
  place(words: readonly string[]): void {
    let next = 0;
    for (const name of this.#tool.positional) {
      const flag = this.#flagOf(name);
      const taken = flag.field.type === "list" ? words.slice(next) : words.slice(next, next + 1);
      next += taken.length;
      const before = this.#given.get(flag);
      if (before !== undefined && taken.length > 0) {
        throw new HvError(
          "hv.usage",
          `"${name}" is given by ${before.shown} and by position as "${taken[0]}"`,
          {
            hint: `Give it once: ${usageLine(this.#tool, this.#flags)}`,
            context: { tool: this.#tool.name, argument: name },
          },
        );
      }
      for (const text of taken) this.set(flag, readValue(flag.field, text, name.toUpperCase()), name);
    }
    const extra = words[next];
    if (extra !== undefined) throw tooMany(this.#tool, this.#flags, extra);
  }

  setRest(name: string, rest: readonly string[]): void {
    const flag = this.#flagOf(name);
    const before = this.#given.get(flag);
    if (before !== undefined) {
      throw new HvError("hv.usage", `"${name}" is given by ${before.shown} and after "--"`, {
        hint: `Give it once: ${usageLine(this.#tool, this.#flags)}`,
        context: { tool: this.#tool.name, argument: name },
      });
    }
    this.#given.set(flag, { value: [...rest], shown: "--" });
  }

  finish(): ParsedCall {
    const missing = this.#flags.filter((flag) => flag.field.required && !this.#given.has(flag));
    if (missing.length > 0) throw missingArguments(this.#tool, this.#flags, missing);
    const call: ParsedCall = { args: {} };
    for (const [{ field, option }, { value }] of this.#given) {
      if (option === undefined) call.args[field.name] = value;
      else if (option === "timeout_s" && typeof value === "number") call.timeout_s = value;
      else if (option === "confirm" && typeof value === "string") call.confirm = value;
      else if (option === "key" && typeof value === "string") call.key = value;
    }
    return call;
  }

  #flagOf(name: string): Flag {
    const flag = this.#flags.find(({ field, option }) => option === undefined && field.name === name);
    if (flag !== undefined) return flag;
    throw new HvError("hv.internal", `The tool "${this.#tool.name}" has no field "${name}"`);
  }
}

function findFlag(
  tool: Tool,
  flags: readonly Flag[],
  token: Token & { kind: "flag" },
): { flag: Flag; negated: boolean } {
  const flag = flags.find(({ names }) => names.includes(token.name));
  if (flag !== undefined) return { flag, negated: false };
  const positive = token.name.startsWith("no-") ? token.name.slice("no-".length) : undefined;
  const negated = flags.find(({ names, placeholder }) =>
    placeholder === undefined && positive !== undefined && names.includes(positive)
  );
  if (negated !== undefined) return { flag: negated, negated: true };
  throw unknownFlag(tool, flags, token);
}

function unknownFlag(tool: Tool, flags: readonly Flag[], token: Token & { kind: "flag" }): HvError {
  const known = flags.flatMap(({ names: [name], placeholder }) =>
    name === undefined ? [] : placeholder === undefined ? [`--${name}`, `--no-${name}`] : [`--${name}`]
  );
  const everywhere = GLOBAL_FLAGS.map(({ name }) => `--${name}`);
  const near = suggest(token.text, [...known, ...everywhere]);
  const [first] = tool.positional;
  const looksLikeValue = !token.text.startsWith("--") && first !== undefined;
  const hints = [
    ...(near === undefined ? [] : [`Did you mean "${near}"?`]),
    ...(looksLikeValue ? [`A value that begins with a dash is written --${kebab(first)}=${token.text}`] : []),
    known.length === 0
      ? "It takes only the global flags"
      : `It takes ${[...new Set(flags.map(({ names: [name] }) => `--${name}`))].join(", ")}`,
  ];
  return new HvError("hv.usage", `Unknown flag "${token.text}" for "${commandOf(tool.name)}"`, {
    hint: hints.join(looksLikeValue ? "; " : " "),
    context: {
      tool: tool.name,
      flag: token.text,
      known: [...known, ...everywhere],
      ...(near === undefined ? {} : { suggestion: near }),
    },
  });
}

function tooMany(tool: Tool, flags: readonly Flag[], word: string): HvError {
  const command = commandOf(tool.name);
  return new HvError("hv.usage", `"${word}" is one argument too many for "${command}"`, {
    hint: tool.rest === undefined
      ? `Usage: ${usageLine(tool, flags)}`
      : `What is to run stands after "--": ${usageLine(tool, flags)}`,
    context: { tool: tool.name, argument: word },
  });
}

function missingArguments(tool: Tool, flags: readonly Flag[], missing: readonly Flag[]): HvError {
  const names = missing.map(({ field: { name } }) => name);
  const shown = missing.map(({ field: { name }, names: [flag] }) => {
    if (name === tool.rest) return '"-- PROGRAM..."';
    return tool.positional.includes(name) ? name.toUpperCase() : `--${flag}`;
  });
  return new HvError("hv.usage", `"${commandOf(tool.name)}" needs ${shown.join(", ")}`, {
    hint: `Usage: ${usageLine(tool, flags)}`,
    context: { tool: tool.name, missing: names },
  });
}

function switchHint({ names: [name] }: Flag): string {
  return `Write --${name} or --no-${name}`;
}
