/** What a command must be to reach a guest program byte for byte, and how it travels to our script. */

import { HvError } from "../../base/errors.ts";
import type { GuestCommand } from "../../guest/channel.ts";
import { RESERVED_PREFIX } from "./agent_scripts.ts";

/** A name that every shell can export. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Throws `hv.usage` for what no program could be given, or not unchanged. */
export function checkCommand({ argv, cwd, env = {} }: GuestCommand): void {
  if (argv.length === 0) {
    throw new HvError("hv.usage", "No program was given to run in the guest", {
      hint: "Write the program and its arguments after --",
    });
  }
  argv.forEach((argument, index) => checkText(argument, `argument ${index}`));
  if (cwd !== undefined) checkText(cwd, "the working folder");
  for (const [name, value] of Object.entries(env)) {
    if (!VARIABLE_NAME.test(name) || name.startsWith(RESERVED_PREFIX)) {
      throw new HvError("hv.usage", `Cannot set the variable ${JSON.stringify(name)} in the guest`, {
        hint: `A name has letters, digits and _, begins with no digit, and not with ${RESERVED_PREFIX}`,
        context: { variable: name },
      });
    }
    checkText(value, `the variable ${name}`);
  }
}

/** Throws `hv.usage` unless a guest path is absolute and can be written down. */
export function checkGuestPath(path: string): void {
  checkText(path, "the guest path");
  if (path.startsWith("/")) return;
  throw new HvError("hv.usage", `The guest path ${JSON.stringify(path)} is not absolute`, {
    hint: "Begin it with /",
    context: { path },
  });
}

/** The arguments of the script that starts programs. */
export function startArguments(base: string, { argv, cwd = "", env = {} }: GuestCommand): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // A shell takes "-" for the folder before.
  const folder = cwd === "-" ? "./-" : cwd;
  return [base, folder, env.PATH ?? "", String(variables.length), ...variables, ...argv];
}

function checkText(text: string, what: string): void {
  const problem = text.includes("\0")
    ? "it holds a zero byte"
    : text.isWellFormed()
    ? undefined
    : "it holds half a character";
  if (problem === undefined) return;
  throw new HvError("hv.usage", `Cannot hand ${what} to the guest: ${problem}`, {
    hint: "Copy such bytes in a file",
    context: { what },
  });
}
