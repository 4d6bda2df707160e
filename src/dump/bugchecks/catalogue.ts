/**
 * What a bug check code and its four arguments mean. Names, numbers and the facts about arguments come from the
 * public driver documentation (see NOTICE); the words are our own.
 */

import {
  type ArgumentMeaning,
  type Bugcheck,
  findSection,
  type FourArguments,
  parseBugcheckTable,
} from "./parse_table.ts";
import { nameStatus } from "./status_names.ts";

/** A part of the catalogue: the codes from one up to the next part's first. */
interface Part {
  first: number;
  load: () => Promise<{ TABLE: string }>;
}

/** Loaded when a code is asked for: all of them together take longer than the rest of an inspection. */
const PARTS: readonly Part[] = [
  { first: 0x000, load: () => import("./tables/from_000_to_04f.ts") },
  { first: 0x050, load: () => import("./tables/from_050_to_09f.ts") },
  { first: 0x0A0, load: () => import("./tables/from_0a0_to_0c3.ts") },
  { first: 0x0C4, load: () => import("./tables/from_0c4.ts") },
  { first: 0x0C5, load: () => import("./tables/from_0c5_to_0ff.ts") },
  { first: 0x100, load: () => import("./tables/from_100_to_13f.ts") },
  { first: 0x140, load: () => import("./tables/from_140_to_18f.ts") },
  { first: 0x190, load: () => import("./tables/from_190_and_up.ts") },
];

const REFERENCE_BASE = "https://learn.microsoft.com/windows-hardware/drivers/debugger/";

/** Small dumps may set this bit in a code: 0x1000000A is 0xA. Four codes with it have names of their own. */
const SMALL_DUMP_BIT = 0x10000000;

/** Whether the dump is of a system that went on running: Attributes bit 4, or a file below LiveKernelReports. */
export interface DescribeOptions {
  readonly live: boolean;
}

/** What the catalogue says of a code. All of it is null for a code that it does not have. */
export interface BugcheckDescription {
  readonly name: string | null;
  /** One line without a full stop. */
  readonly description: string | null;
  /** Address of the vendor's page. */
  readonly reference: string | null;
  /** What the four arguments are in general; null stands for "not documented". */
  readonly arguments: (string | null)[];
}

/** Every entry of the catalogue, by code. */
export async function listBugchecks(): Promise<ReadonlyMap<number, Bugcheck>> {
  const tables = await Promise.all(PARTS.map(async ({ load }) => (await load()).TABLE));
  return new Map(tables.flatMap(parseBugcheckTable).map((bugcheck) => [bugcheck.code, bugcheck]));
}

/** The entry of a code, an unsigned 32-bit number; `undefined` when the catalogue has none. */
export async function findBugcheck(code: number): Promise<Bugcheck | undefined> {
  const exact = await readBugcheck(code);
  if (exact !== undefined || (code & SMALL_DUMP_BIT) === 0) return exact;
  return await readBugcheck(code - SMALL_DUMP_BIT);
}

/** The name of a code in a crash, not in a report of a system that went on; null when there is none. */
export async function nameBugcheck(code: number): Promise<string | null> {
  if (!Number.isInteger(code) || code < 0 || code > 0xffffffff) return null;
  const found = await findBugcheck(code);
  return found === undefined ? null : chooseName(found, { live: false });
}

/** Name, meaning, reference and general meaning of the arguments of an entry. */
export function describeBugcheck(
  bugcheck: Bugcheck | undefined,
  options: DescribeOptions,
): BugcheckDescription {
  if (bugcheck === undefined) {
    return { name: null, description: null, reference: null, arguments: [null, null, null, null] };
  }
  return {
    name: chooseName(bugcheck, options),
    description: options.live ? bugcheck.liveDescription : bugcheck.description,
    reference: REFERENCE_BASE + bugcheck.page,
    arguments: bugcheck.arguments.map((argument) => argument.text),
  };
}

/**
 * What the four arguments of one dump mean: always four entries, null for "not documented". Uses the meanings that
 * hold for these values, and adds the name of an NTSTATUS. An argument that the dump does not have (null or left
 * out) keeps its general meaning. Live dumps share the meanings of the code.
 */
export function describeArguments(
  bugcheck: Bugcheck | undefined,
  args: readonly (bigint | null)[],
): (string | null)[] {
  if (bugcheck === undefined) return [null, null, null, null];
  return chooseArguments(bugcheck, args).map((argument, index) => {
    const value = args[index] ?? null;
    if (value === null) return argument.text;
    if (argument.isStatus) return describeStatusArgument(argument, value);
    if (argument !== bugcheck.arguments[index]) return argument.text;
    const known = bugcheck.values.find((entry) => entry.argument === index + 1 && entry.value === value);
    return known?.text ?? argument.text;
  });
}

/** The name that fits the dump; a code used in one kind of dump only keeps its only name. */
export function chooseName(
  names: Pick<Bugcheck, "name" | "liveName">,
  options: DescribeOptions,
): string | null {
  return options.live ? names.liveName ?? names.name : names.name ?? names.liveName;
}

async function readBugcheck(code: number): Promise<Bugcheck | undefined> {
  const part = PARTS.findLast(({ first }) => first <= code);
  if (part === undefined) return undefined;
  const section = findSection((await part.load()).TABLE, code);
  return section === undefined ? undefined : parseBugcheckTable(section)[0];
}

function chooseArguments(bugcheck: Bugcheck, args: readonly (bigint | null)[]): FourArguments {
  const variant = bugcheck.variants.find(({ conditions }) =>
    conditions.every(({ argument, ranges }) => {
      const value = args[argument - 1] ?? null;
      return value !== null && ranges.some(([low, high]) => value >= low && value <= high);
    })
  );
  return variant?.arguments ?? bugcheck.arguments;
}

function describeStatusArgument({ text }: ArgumentMeaning, value: bigint): string | null {
  const fits = value === BigInt.asUintN(32, value) || value === BigInt.asUintN(64, BigInt.asIntN(32, value));
  const status = fits ? nameStatus(Number(BigInt.asUintN(32, value))) : null;
  return status === null ? text : `${text}: ${status.name} (${status.meaning})`;
}
