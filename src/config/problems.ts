/** What is wrong in a configuration file, said with its place, what is allowed there and what was meant. */

import { HvError } from "../base/errors.ts";
import { isPlainObject, type JsonObject } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import { KNOWN_KEYS } from "./schema.ts";
import type { KeyPath, Place } from "./yaml.ts";

/** So many problems are told one by one; a file with more is another kind of file. */
const MOST_TOLD = 100;
/** The longest text that is quoted whole. */
const LONGEST_QUOTE = 100;

/** One thing that is wrong. */
export interface Problem {
  /** The key path with dots, list positions in brackets; "" is the whole file. */
  key: string;
  place: Place | undefined;
  /** What was found. */
  found: string;
  /** What is allowed here, and what was probably meant. */
  advice: string;
}

/** An issue of the schema, as far as it is read here. */
export interface SchemaIssue {
  code?: string | undefined;
  path: KeyPath;
  message: string;
  keys?: readonly string[];
  values?: readonly unknown[];
}

/** The problems that one issue of the schema stands for. */
export function describeIssue(
  issue: SchemaIssue,
  data: unknown,
  placeOf: (path: KeyPath) => Place,
): Problem[] {
  if (issue.code === "unrecognized_keys") {
    return (issue.keys ?? []).map((key) => unknownKey(issue.path, key, placeOf));
  }
  const { path } = issue;
  const key = keyText(path);
  const name = key === "" ? "the file" : `"${key}"`;
  if (issue.code === "invalid_key") {
    const found = `"${String(path.at(-1))}" cannot be a key in "${keyText(path.slice(0, -1))}"`;
    return [{ key, place: placeOf(path), found, advice: `Allowed: ${issue.message}` }];
  }
  const value = valueAt(data, path);
  const known = (issue.values ?? []).filter((one) => typeof one === "string");
  const meant = typeof value === "string" ? suggest(value, known) : undefined;
  const found = value === null ? `${name} is empty` : `${name} is ${shown(value)}`;
  const omit = value === null && key !== "" ? "; to leave it at its default remove the line" : "";
  return [{
    key,
    place: placeOf(path),
    found,
    advice: `${didYouMean(meant)}Allowed: ${issue.message}${omit}`,
  }];
}

/** A name that hvlab does not know, in a place where only known ones make sense. */
export function unknownName(
  what: string,
  name: string,
  path: KeyPath,
  known: readonly string[],
  placeOf: (path: KeyPath) => Place,
): Problem {
  const advice = `${didYouMean(suggest(name, known))}Known: ${known.join(", ")}`;
  return { key: keyText(path), place: placeOf(path), found: `there is no ${what} "${name}"`, advice };
}

/** The failure that names the file and its first problem, with all of them in its context. */
export function configFailure(file: string, problems: readonly Problem[], cause?: unknown): HvError {
  const [first] = problems;
  const where = first?.place === undefined ? "" : `line ${first.place.line}, column ${first.place.column}: `;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see the context)` : "";
  return new HvError("hv.usage", `Cannot use "${file}": ${where}${first?.found ?? "unreadable"}${more}`, {
    hint: first?.advice ?? "Correct the file",
    context: {
      file,
      ...(first?.place === undefined ? {} : { ...first.place }),
      key: first?.key ?? "",
      problems: problems.slice(0, MOST_TOLD).map(problemObject),
      ...(problems.length > MOST_TOLD ? { truncated: true } : {}),
    },
    cause,
  });
}

/** A key path as people write it: `policy.deny.tools[1]`. */
export function keyText(path: KeyPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

function unknownKey(parent: KeyPath, key: string, placeOf: (path: KeyPath) => Place): Problem {
  const place = keyText(parent);
  const here = KNOWN_KEYS.get(place) ?? [];
  const elsewhere = [...KNOWN_KEYS]
    .filter(([other, keys]) => other !== place && keys.includes(key))
    .map(([other]) => (other === "" ? key : `${other}.${key}`));
  const meant = elsewhere[0] ?? suggest(key, here);
  return {
    key: keyText([...parent, key]),
    place: placeOf([...parent, key]),
    found: `unknown key "${shorten(key)}"${place === "" ? "" : ` in "${place}"`}`,
    advice: `${didYouMean(meant)}Known here: ${here.join(", ")}`,
  };
}

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? "" : `Did you mean "${meant}"? `;
}

function valueAt(data: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value) && typeof part === "number") return value[part];
    return isPlainObject(value) && typeof part === "string" ? value[part] : undefined;
  }, data);
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isPlainObject(value)) return "a set of named fields";
  return typeof value === "string" ? `the text ${JSON.stringify(shorten(value))}` : `${String(value)}`;
}

function shorten(text: string): string {
  return text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}...`;
}

function problemObject({ key, place, found, advice }: Problem): JsonObject {
  return { key, ...(place === undefined ? {} : { line: place.line, column: place.column }), found, advice };
}
