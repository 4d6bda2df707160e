/**
 * Reads the tables of bug checks. A table is text with one fact per line, so that a new code or meaning is one new line:
 *
 * ```
 * 0x9F NAME live LIVE_NAME | what the stop means, in one line
 *   live | what it means in a dump of a system that went on, when that differs
 *   page | name of the vendor's page, when it does not follow from code and name
 *   arguments | first | second | third | fourth
 *   value 4 = 0x1 | meaning of that value of the fourth argument
 *   when 1 = 0x3, 0x4 | meaning of that value | the other three arguments in order
 *   when 1 = 0x3 and 3 = 0x0 | ...
 *   when 1 = 0x20000..0x2FFFF | ...
 * ```
 *
 * `-` stands for an argument that is not documented. `$` before an argument says that it is an NTSTATUS.
 * A meaning is appended to the argument's general text; with `=` before it, it replaces that text. So `arguments`
 * stands before the lines that need it.
 */

import { HvError } from "../../base/errors.ts";

/** Which argument of a bug check, counted from 1 as debuggers do. */
export type ArgumentNumber = 1 | 2 | 3 | 4;

/** What is known of one argument. */
export interface ArgumentMeaning {
  /** Short text; null when the argument is not documented. */
  readonly text: string | null;
  /** Whether the value is an NTSTATUS, which arrives sign-extended on 64-bit systems. */
  readonly isStatus: boolean;
}

/** The four arguments in order. */
export type FourArguments = readonly [ArgumentMeaning, ArgumentMeaning, ArgumentMeaning, ArgumentMeaning];

/** One condition on an argument: its value lies in one of the ranges, both ends included. */
export interface Condition {
  readonly argument: ArgumentNumber;
  readonly ranges: readonly (readonly [bigint, bigint])[];
}

/** Meanings of the arguments that hold when all conditions do. */
export interface Variant {
  readonly conditions: readonly Condition[];
  readonly arguments: FourArguments;
}

/** One bug check or live dump code. */
export interface Bugcheck {
  readonly code: number;
  /** Name as a crash; null when only live dumps use the code. */
  readonly name: string | null;
  /** Name as a live dump; null when only crashes use the code. */
  readonly liveName: string | null;
  readonly description: string;
  readonly liveDescription: string;
  /** Last part of the address of the vendor's page. */
  readonly page: string;
  readonly arguments: FourArguments;
  /** In the order of the table: the first that fits counts. */
  readonly variants: readonly Variant[];
  /** Meanings of single values, used for an argument that no variant explains by a value. */
  readonly values: readonly {
    readonly argument: ArgumentNumber;
    readonly value: bigint;
    readonly text: string;
  }[];
}

type Draft = { -readonly [Key in keyof Bugcheck]: Bugcheck[Key] } & {
  variants: Variant[];
  values: Bugcheck["values"][number][];
};

const UNKNOWN: ArgumentMeaning = { text: null, isStatus: false };

/**
 * The lines of one code in a table; `undefined` when the table does not have it. Reading a whole table takes longer
 * than everything else that an inspection does.
 */
export function findSection(table: string, code: number): string | undefined {
  const start = table.indexOf(`\n0x${code.toString(16).toUpperCase()} `);
  if (start < 0) return undefined;
  const end = table.indexOf("\n0x", start + 1);
  return end < 0 ? table.slice(start) : table.slice(start, end);
}

/** Reads a table in the form described above. @throws HvError `hv.internal` that quotes a line of another form. */
export function parseBugcheckTable(table: string): readonly Bugcheck[] {
  const drafts: Draft[] = [];
  for (const line of table.split("\n").filter((line) => line.trim() !== "")) {
    const cells = line.split("|").map((cell) => cell.trim());
    const latest = drafts.at(-1);
    if (!line.startsWith(" ")) drafts.push(startBugcheck(line, cells));
    else if (latest === undefined) throw unreadable(line);
    else addFact(latest, line, cells);
  }
  return drafts;
}

function startBugcheck(line: string, [head = "", description, ...rest]: string[]): Draft {
  const match = /^(0x[0-9A-F]+)(?: ([A-Z0-9_]+))?(?: live ([A-Z0-9_]+))?$/.exec(head);
  const [, code, name = null, liveName = null] = match ?? [];
  const anyName = name ?? liveName;
  if (code === undefined || anyName === null || !description || rest.length > 0) throw unreadable(line);
  return {
    code: Number(code),
    name,
    liveName,
    description,
    liveDescription: description,
    page: `bug-check-${code.toLowerCase()}--${anyName.toLowerCase().replaceAll("_", "-")}`,
    arguments: [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN],
    variants: [],
    values: [],
  };
}

function addFact(bugcheck: Draft, line: string, [head = "", text, ...rest]: string[]): void {
  if (!text) throw unreadable(line);
  if (head === "arguments") {
    bugcheck.arguments = readArguments([text, ...rest], line);
  } else if (head.startsWith("when ")) {
    bugcheck.variants.push(readVariant(bugcheck, head.slice("when ".length), text, rest, line));
  } else if (rest.length > 0) {
    throw unreadable(line);
  } else if (head === "live") {
    bugcheck.liveDescription = text;
  } else if (head === "page") {
    bugcheck.page = text;
  } else if (head.startsWith("value ")) {
    const { argument, ranges: [range] } = readCondition(head.slice("value ".length), line);
    if (range === undefined) throw unreadable(line);
    const value = range[0];
    bugcheck.values.push({ argument, value, text: joinMeaning(bugcheck.arguments[argument - 1], text) });
  } else {
    throw unreadable(line);
  }
}

function readVariant(
  bugcheck: Draft,
  condition: string,
  meaning: string,
  others: readonly string[],
  line: string,
): Variant {
  const conditions = condition.split(" and ").map((part) => readCondition(part, line));
  const [first] = conditions;
  if (first === undefined) throw unreadable(line);
  const cells = others.toSpliced(
    first.argument - 1,
    0,
    joinMeaning(bugcheck.arguments[first.argument - 1], meaning),
  );
  return { conditions, arguments: readArguments(cells, line) };
}

function readCondition(text: string, line: string): Condition {
  const [digit, list = ""] = text.split(" = ");
  const ranges = list.split(", ").map((part): readonly [bigint, bigint] => {
    const [low = "", high = low, ...more] = part.split("..");
    if (!isNumber(low) || !isNumber(high) || more.length > 0) throw unreadable(line);
    return [BigInt(low), BigInt(high)];
  });
  const argument = ([1, 2, 3, 4] as const).find((number) => String(number) === digit);
  if (argument === undefined) throw unreadable(line);
  return { argument, ranges };
}

function readArguments(cells: readonly string[], line: string): FourArguments {
  const [first, second, third, fourth, ...rest] = cells.map(readArgument);
  if (!first || !second || !third || !fourth || rest.length > 0) throw unreadable(line);
  return [first, second, third, fourth];
}

function readArgument(cell: string): ArgumentMeaning {
  if (cell === "-") return UNKNOWN;
  return cell.startsWith("$") ? { text: cell.slice(1), isStatus: true } : { text: cell, isStatus: false };
}

function joinMeaning(general: ArgumentMeaning | undefined, meaning: string): string {
  if (meaning.startsWith("=")) return meaning.slice(1);
  return general?.text ? `${general.text}: ${meaning}` : meaning;
}

// A regular expression that matches again and again is compiled, which takes longer than all else here.
function isNumber(text: string): boolean {
  return text.startsWith("0x") && Number.isFinite(Number(text));
}

function unreadable(line: string): HvError {
  return new HvError("hv.internal", `cannot read the line "${line.trim()}" of the bug check table`);
}
