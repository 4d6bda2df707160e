/** Arguments that several tools take, with their real bounds. */

import * as z from "zod/mini";

/** Memory of a machine in MiB. */
export const MemoryMb = z.int().check(z.minimum(16), z.maximum(1024 * 1024));

/** A disk's size in MiB: up to 64 TiB. */
export const DiskSizeMb = z.int().check(z.minimum(1), z.maximum(64 * 1024 * 1024));

/** Virtual processors. */
export const Cpus = z.int().check(z.minimum(1), z.maximum(256));

/** A sandbox's lease in seconds: a minute to a week. */
export const TtlS = z.int().check(z.minimum(60), z.maximum(7 * 24 * 3600));

/** A program and its arguments, byte for byte; no shell reads them. */
export const Argv = z.array(z.string()).check(z.minLength(1), z.maxLength(4096));

/** `NAME=VALUE`, as a program's environment holds it. */
export const EnvAssignment = z.string().check(
  z.regex(/^[A-Za-z_][A-Za-z0-9_]*=[^\0]*$/, "a variable is written NAME=VALUE"),
  z.describe("NAME=VALUE"),
);

/** How many entries a list gives at most. */
export const ListLimit = z.int().check(z.minimum(1), z.maximum(1000));

/** Splits `NAME=VALUE` words; a later one of the same name wins. */
export function readEnvironment(assignments: readonly string[]): Record<string, string> {
  return Object.fromEntries(assignments.map((word) => {
    const equals = word.indexOf("=");
    return [word.slice(0, equals), word.slice(equals + 1)];
  }));
}
