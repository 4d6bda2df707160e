/** Wrong arguments in words: which field, what was given, what was wanted, what is known. */

import type * as z from "zod/mini";
import { HvError } from "../base/errors.ts";
import { isPlainObject } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";

type Issue = z.core.$ZodIssue;

/** Fields whose values are never shown, whatever is wrong with them. */
const SECRET_FIELD = /password|secret|token|key/i;

/** Types that JSON calls by another name than the schemas do. */
const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ["int", "a whole number"],
  ["record", "one JSON object"],
  ["array", "a list"],
]);

/** The `hv.usage` failure for the first thing that is wrong; all of them stand in its context. */
export function describeIssues(
  tool: string,
  known: readonly string[],
  issues: readonly Issue[],
  given: unknown,
): HvError {
  // A word that is not known explains best why another one is missing.
  const ordered = [...issues].sort((a, b) => rank(a) - rank(b));
  const problems = ordered.map((issue) => describeIssue(issue, given, known));
  const first = problems[0] ?? "its arguments do not fit";
  return new HvError("hv.usage", `Wrong arguments for "${tool}": ${first}`, {
    hint: known.length === 0 ? "It takes no arguments" : `It takes ${known.join(", ")}`,
    context: {
      tool,
      problems,
      wrong: ordered.flatMap((issue) => wrongValueOf(issue, given) ?? []),
      known: [...known],
    },
  });
}

function rank({ code }: Issue): number {
  return code === "unrecognized_keys" ? 0 : 1;
}

function describeIssue(issue: Issue, given: unknown, known: readonly string[]): string {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `unknown argument "${key}"${didYouMean(key, known)}`).join(", ");
  }
  const wrong = wrongValueOf(issue, given);
  const field = issue.path.join(".");
  if (wrong === undefined) {
    return field === "" ? "the arguments must be one object" : `the argument "${field}" is missing`;
  }
  const where = field === "" ? "the arguments" : `"${field}"`;
  return `${where} is ${wrong.found}, but ${wrong.wanted}`;
}

/** A value that is there and does not fit, for doors that name fields in their own way. */
function wrongValueOf(
  issue: Issue,
  given: unknown,
): { field: string; found: string; wanted: string } | undefined {
  if (issue.code === "unrecognized_keys") return undefined;
  const field = issue.path.join(".");
  const value = valueAt(given, issue.path);
  if (value === undefined) return undefined;
  const shown = SECRET_FIELD.test(field) ? "a value that is not shown" : JSON.stringify(value);
  return { field, found: shorten(shown), wanted: wanted(issue) };
}

function wanted(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `wanted is ${TYPE_NAMES.get(issue.expected) ?? `a value of type ${issue.expected}`}`;
    case "invalid_value":
      return `wanted is one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return issue.origin === "string"
        ? `at least ${issue.minimum} characters are wanted`
        : `at least ${issue.minimum} is wanted`;
    case "too_big":
      return issue.origin === "string"
        ? `at most ${issue.maximum} characters are wanted`
        : `at most ${issue.maximum} is wanted`;
    default:
      return issue.message === "Invalid input" ? "that does not fit" : issue.message;
  }
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (Array.isArray(value) && typeof key === "number") value = value[key];
    else if (isPlainObject(value)) value = value[String(key)];
    else return undefined;
  }
  return value;
}

function shorten(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}

function didYouMean(word: string, known: readonly string[]): string {
  const near = suggest(word, known);
  return near === undefined ? "" : `, did you mean "${near}"`;
}
