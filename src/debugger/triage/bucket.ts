/** The key under which equal crashes are counted. It needs no symbols, so that it does not change when they come. */

import { plainCode } from "../../dump/attribution/argument_addresses.ts";
import type { Blame, BlameRule } from "../../dump/attribution/blame.ts";
import type { DumpSession } from "../../dump/session.ts";

/** Codes whose first argument says what kind of stop it was. */
const KINDS: ReadonlySet<number> = new Set([0x1A, 0x9F, 0xC4, 0x139, 0x7A, 0x124, 0xC9, 0x133, 0x109]);
/** A sub-code is small; an address in its place would make every crash its own. */
const LARGEST_KIND = 0x10_0000n;

/** Rules whose address is in the dump itself. How far a stack can be walked changes with the symbols that are there. */
const OWN_ADDRESSES: ReadonlySet<BlameRule> = new Set(["bugcheck_argument", "exception_address", "context"]);

/** `d1_evil.sys+10ec`: stop code with its sub-code, else exception code, then the image and where in it. */
export function bucketOf(session: DumpSession, blame: Blame | null): string {
  const what = session.mode === "kernel" && session.bugCheck !== null
    ? stopText(session.bugCheck.code, session.bugCheck.parameters[0])
    : session.exception === null
    ? "none"
    : session.exception.code.toString(16);
  return `${what}_${whereText(blame)}`;
}

function stopText(code: number, first: bigint): string {
  const plain = plainCode(code);
  const kind = KINDS.has(plain) && first <= LARGEST_KIND ? `.${first.toString(16)}` : "";
  return plain.toString(16) + kind;
}

function whereText(blame: Blame | null): string {
  if (blame === null) return "none";
  const name = (blame.module?.name ?? blame.unloaded?.name ?? "").toLowerCase();
  const base = blame.module?.base ?? blame.unloaded?.start;
  const told = OWN_ADDRESSES.has(blame.rule) && blame.confidence !== "low";
  return !told || blame.address === null || base === undefined
    ? name
    : `${name}+${(blame.address - base).toString(16)}`;
}
