/** The flags that every command takes. */

import { HvError } from "../base/errors.ts";
import type { Token } from "./tokens.ts";

/** What the global flags say. */
export interface GlobalOptions {
  json: boolean;
  quiet: boolean;
  progress: boolean;
  help: boolean;
  version: boolean;
  driver?: string;
  config?: string;
  state?: string;
}

/** One global flag as help and completions show it. */
export interface GlobalFlag {
  name: string;
  /** What stands for the value; `undefined` for a switch. */
  placeholder?: string;
  description: string;
}

export const GLOBAL_FLAGS: readonly GlobalFlag[] = [
  { name: "json", description: "Print exactly one JSON object on stdout" },
  { name: "driver", placeholder: "NAME", description: "The hypervisor driver to use" },
  { name: "config", placeholder: "FILE", description: "The configuration file to read" },
  { name: "state", placeholder: "FOLDER", description: "The state folder to work in" },
  { name: "quiet", description: "No progress, notes or warnings on stderr" },
  { name: "no-progress", description: "No progress line on stderr" },
  { name: "help", description: "Show help and do nothing else" },
  { name: "version", description: "Show the version and do nothing else" },
];

const VALUE_FLAGS = ["driver", "config", "state"] as const;

/** Whether a line asks for JSON, even when the rest of it cannot be understood. */
export function wantsJson(tokens: readonly Token[]): boolean {
  return tokens.some((token) => token.kind === "flag" && token.name === "json");
}

/** Takes the global flags out of a line, wherever they stand. Throws `hv.usage` for one without its value. */
export function takeGlobals(tokens: readonly Token[]): { options: GlobalOptions; tokens: Token[] } {
  const options: GlobalOptions = { json: false, quiet: false, progress: true, help: false, version: false };
  const left: Token[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) continue;
    if (token.kind === "word" || !GLOBAL_FLAGS.some(({ name }) => name === token.name)) {
      left.push(token);
      continue;
    }
    const valueName = VALUE_FLAGS.find((name) => name === token.name);
    if (valueName === undefined) {
      setSwitch(options, token.name, token.value);
      continue;
    }
    if (options[valueName] !== undefined) throw givenTwice(token.text);
    if (token.value === undefined) index++;
    options[valueName] = valueOf(token, tokens[index]);
  }
  return { options, tokens: left };
}

/** The failure of a flag that takes one value and was given two. */
export function givenTwice(flag: string): HvError {
  return new HvError("hv.usage", `The flag "${flag}" is given twice`, {
    hint: "Give it once",
    context: { flag },
  });
}

/** The value of a flag: tied to it by `=`, else the word behind it. Throws `hv.usage` when there is none. */
export function valueOf(token: Token & { kind: "flag" }, next: Token | undefined): string {
  if (token.value !== undefined) return token.value;
  if (next?.kind === "word") return next.text;
  throw new HvError("hv.usage", `The flag "${token.text}" needs a value`, {
    hint: next === undefined
      ? `Write it as ${token.text}=VALUE`
      : `A value that begins with a dash is written ${token.text}=${next.text}`,
    context: { flag: token.text },
  });
}

/** The failure of a switch that was given a value. */
export function takesNoValue(flag: string, hint: string): HvError {
  return new HvError("hv.usage", `The flag "${flag}" takes no value`, { hint, context: { flag } });
}

function setSwitch(options: GlobalOptions, name: string, value: string | undefined): void {
  if (value !== undefined) throw takesNoValue(`--${name}`, `Write --${name} alone`);
  if (name === "json") options.json = true;
  if (name === "quiet") options.quiet = true;
  if (name === "no-progress") options.progress = false;
  if (name === "help") options.help = true;
  if (name === "version") options.version = true;
}
