/** What a command must be to reach a program of a POSIX guest byte for byte. */

import { HvError } from "../../base/errors.ts";
import type { GuestCommand } from "../channel.ts";

/** A prefix of our own names in scripts, which a caller's variables may not have. */
export const RESERVED_PREFIX = "hv_";

/** A name that every shell can export. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A user's name as Linux distributions make them; nothing in it means anything to a shell. */
const USER_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?$/;

/** What Linux takes in one argument or variable, its end included (`MAX_ARG_STRLEN`). */
const ARGUMENT_LIMIT_BYTES = 128 * 1024;

/** Throws `hv.usage` for what no program could be given, or not unchanged. */
export function checkCommand({ argv, cwd, env = {}, run_as: user }: GuestCommand): void {
  if (argv.length === 0) {
    throw new HvError("hv.usage", "No program was given to run in the guest", {
      hint: "Write the program and its arguments after --",
    });
  }
  argv.forEach((argument, index) => {
    checkText(argument, `argument ${index}`);
    checkLength(argument, `argument ${index}`);
  });
  if (cwd !== undefined) checkText(cwd, "the working folder");
  if (user !== undefined) checkUserName(user);
  for (const [name, value] of Object.entries(env)) {
    if (!VARIABLE_NAME.test(name) || name.startsWith(RESERVED_PREFIX)) {
      throw new HvError("hv.usage", `Cannot set the variable ${JSON.stringify(name)} in the guest`, {
        hint: `A name has letters, digits and _, begins with no digit, and not with ${RESERVED_PREFIX}`,
        context: { variable: name },
      });
    }
    checkText(value, `the variable ${name}`);
    checkLength(`${name}=${value}`, `the variable ${name}`);
  }
}

/** Throws `hv.usage` for what cannot be the name of a user. */
export function checkUserName(user: string): void {
  if (USER_NAME.test(user)) return;
  throw new HvError("hv.usage", `${JSON.stringify(user)} cannot be a user of the guest`, {
    hint: "A name has up to 32 letters, digits, dots, dashes and underscores, and begins with a letter or _",
    context: { user },
  });
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

function checkLength(text: string, what: string): void {
  const bytes = text.length < ARGUMENT_LIMIT_BYTES / 4 ? 0 : new TextEncoder().encode(text).length;
  if (bytes < ARGUMENT_LIMIT_BYTES) return;
  throw new HvError("hv.usage", `Cannot hand ${what} to the guest: it has ${bytes} bytes`, {
    hint: `Linux takes less than ${ARGUMENT_LIMIT_BYTES} in one; copy long data into a file`,
    context: { what, found: bytes, limit: ARGUMENT_LIMIT_BYTES },
  });
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
