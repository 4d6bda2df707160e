/** From words to commands: `vm list` is the tool `vm_list`, `guest copy-to` is `guest_copy_to`. */

import { HvError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import { GLOBAL_FLAGS } from "./globals.ts";
import type { Token } from "./tokens.ts";

/** Commands that are not tools. */
export const OWN_COMMANDS = ["tools", "mcp", "version", "completions", "help"] as const;
export type OwnCommand = typeof OWN_COMMANDS[number];

/** The command with which hvlab starts its own background process; no help shows it. */
export const KEEPER_COMMAND = "keeper";

/** The command with which hvlab goes on with a detached call in a process of its own; no help shows it. */
export const FOLLOW_COMMAND = "follow";

/** A command that was found: its own name or a tool's, and the line without its words. */
export interface FoundCommand {
  name: string;
  tokens: Token[];
}

/** What a person types for a tool: `vm list`, `guest copy-to`, `doctor`. */
export function commandOf(tool: string): string {
  const [noun = "", ...verb] = tool.split("_");
  return verb.length === 0 ? noun : `${noun} ${verb.join("-")}`;
}

/** The command's first word. */
export function nounOf(tool: string): string {
  return tool.split("_", 1)[0] ?? tool;
}

/**
 * Finds the command in a line. Flags may stand before and between its words, and a word behind a flag may be that
 * flag's value. The longest command wins, so `tools search` is not `tools`. Throws `hv.usage` that lists what is
 * known.
 */
export function findCommand(tokens: readonly Token[], names: readonly string[]): FoundCommand {
  for (const [start, token] of tokens.entries()) {
    if (token.kind === "flag") continue;
    const spellings = commandsUnder(token.text, names).flatMap(spellingsOf);
    for (const { name, words } of spellings.sort((a, b) => b.words.length - a.words.length)) {
      const places = placesOf(words, tokens, start);
      if (places !== undefined) {
        return { name, tokens: tokens.filter((_, index) => !places.includes(index)) };
      }
    }
    if (!mayBeValue(tokens, start)) throw unknownCommand(wordsFrom(tokens, start), names);
  }
  const flag = tokens.find(({ kind }) => kind === "flag")?.text ?? "";
  const near = suggest(flag, GLOBAL_FLAGS.map(({ name }) => `--${name}`));
  throw new HvError("hv.usage", "No command is given", {
    hint: `${didYouMean(near)}Commands begin with ${listNouns(names)}; see hvlab --help`,
    context: { known: nounsOf(names) },
  });
}

/** The first words of all commands, in listing order. */
export function nounsOf(names: readonly string[]): string[] {
  return [...new Set(names.map(nounOf))];
}

/** The commands that begin with a word. */
export function commandsUnder(noun: string, names: readonly string[]): string[] {
  return names.filter((name) => nounOf(name) === noun);
}

interface Spelling {
  name: string;
  words: string[];
}

function spellingsOf(name: string): Spelling[] {
  const spaced = name.split("_");
  const usual = commandOf(name).split(" ");
  return spaced.length === usual.length ? [{ name, words: usual }] : [
    { name, words: usual },
    { name, words: spaced },
  ];
}

/** Where a command's words stand when the first one stands at `start`; `undefined` when another word comes between. */
function placesOf(words: readonly string[], tokens: readonly Token[], start: number): number[] | undefined {
  const places: number[] = [];
  for (let index = start; index < tokens.length && places.length < words.length; index++) {
    const token = tokens[index];
    if (token === undefined || token.kind === "flag") continue;
    if (token.text === words[places.length]) places.push(index);
    else if (index === start || !mayBeValue(tokens, index)) return undefined;
  }
  return places.length === words.length ? places : undefined;
}

function mayBeValue(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  return before?.kind === "flag" && before.value === undefined;
}

function wordsFrom(tokens: readonly Token[], start: number): string[] {
  return tokens.slice(start).flatMap((token, offset) =>
    token.kind === "word" && (offset === 0 || !mayBeValue(tokens, start + offset)) ? [token.text] : []
  );
}

function unknownCommand([noun = "", verb]: readonly string[], names: readonly string[]): HvError {
  const commands = names.map(commandOf);
  const under = commandsUnder(noun, names).map((name) => commandOf(name).slice(noun.length + 1));
  if (under.length === 0) {
    const near = suggest(noun.replace(/^hv[_-]/, ""), [...nounsOf(names), ...commands]);
    return new HvError("hv.usage", `Unknown command "${noun}"`, {
      hint: `${didYouMean(near)}Commands begin with ${listNouns(names)}`,
      context: { word: noun, known: nounsOf(names), ...(near === undefined ? {} : { suggestion: near }) },
    });
  }
  const message = verb === undefined
    ? `The command "${noun}" is not complete`
    : `Unknown command "${noun} ${verb}"`;
  const near = verb === undefined ? undefined : suggest(verb, under);
  return new HvError("hv.usage", message, {
    hint: `${didYouMean(near === undefined ? undefined : `${noun} ${near}`)}"${noun}" goes on with ${
      under.join(", ")
    }`,
    context: {
      word: noun,
      known: under.map((word) => `${noun} ${word}`),
      ...(near === undefined ? {} : { suggestion: `${noun} ${near}` }),
    },
  });
}

function listNouns(names: readonly string[]): string {
  return nounsOf(names).join(", ");
}

function didYouMean(near: string | undefined): string {
  return near === undefined ? "" : `Did you mean "${near}"? `;
}
