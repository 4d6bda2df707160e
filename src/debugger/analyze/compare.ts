/** Where two readings of one dump differ. */

import type { DumpAnalysis, Opinion, OpinionFrame } from "../../contract/dump_analyze.ts";
import { debuggerName } from "./opinions.ts";

type Disagreement = NonNullable<DumpAnalysis["disagreements"]>[number];

/** Fields that both tell, and tell differently; what one does not tell is no disagreement. */
export function compareOpinions(native: Opinion, second: Opinion): Disagreement[] {
  const found: Disagreement[] = [];
  const compare = <T>(
    field: string,
    ours: T | null | undefined,
    theirs: T | null | undefined,
    same: (ours: T, theirs: T) => boolean,
    show: (value: T) => string = String,
  ): void => {
    if (ours === null || ours === undefined || theirs === null || theirs === undefined) return;
    if (!same(ours, theirs)) found.push({ field, native: show(ours), second: show(theirs) });
  };
  compare("os_version", native.os_version, second.os_version, sameVersion);
  compare("bugcheck.code", native.bugcheck?.code, second.bugcheck?.code, sameStop);
  for (const [index, ours] of (native.bugcheck?.arguments ?? []).entries()) {
    compare(`bugcheck.arguments.${index + 1}`, ours, second.bugcheck?.arguments[index], sameNumber);
  }
  compare("exception.code", native.exception?.code, second.exception?.code, sameNumber);
  compare("exception.address", native.exception?.address, second.exception?.address, sameNumber);
  compare("module", native.module, second.module, sameImage);
  compare("version", native.version, second.version, (ours, theirs) => ours === theirs);
  compare("process", native.process, second.process, sameProcess);
  compare("module_count", native.module_count, second.module_count, (ours, theirs) => ours === theirs);
  const frame = firstDifferentFrame(native.stack, second.stack);
  if (frame !== null) found.push(frame);
  return found;
}

function sameVersion(ours: string, theirs: string): boolean {
  const short = (version: string): string => version.split(".").slice(0, 3).join(".");
  return short(ours) === short(theirs);
}

/** Stop codes may carry a flag that says that more was recorded: 1000007E is 7E. */
function sameStop(ours: string, theirs: string): boolean {
  return (BigInt(ours) & 0xFFF_FFFFn) === (BigInt(theirs) & 0xFFF_FFFFn);
}

function sameNumber(ours: string, theirs: string): boolean {
  return ours !== "" && theirs !== "" && BigInt(ours) === BigInt(theirs);
}

function sameImage(ours: string, theirs: string): boolean {
  return debuggerName(ours).toLowerCase() === debuggerName(theirs).toLowerCase();
}

/** The kernel keeps 15 letters of a process's name. */
function sameProcess(ours: string, theirs: string): boolean {
  const short = (name: string): string => name.toLowerCase().slice(0, 14);
  return short(ours) === short(theirs);
}

/**
 * A debugger begins in the bug check call, we at the exception: the traces are laid side by side from the first of
 * our frames that it has as well.
 */
function firstDifferentFrame(
  ours: readonly OpinionFrame[],
  theirs: readonly OpinionFrame[],
): Disagreement | null {
  const [first] = ours;
  if (first === undefined || theirs.length === 0) return null;
  const start = Math.max(0, theirs.findIndex((frame) => sameFrame(first, frame)));
  for (const [index, frame] of ours.entries()) {
    const other = theirs[start + index];
    if (other === undefined) return null;
    if (!sameFrame(frame, other)) {
      return { field: `stack.${index}`, native: frameText(frame), second: frameText(other) };
    }
  }
  return null;
}

function sameFrame(ours: OpinionFrame, theirs: OpinionFrame): boolean {
  if ((ours.module ?? "").toLowerCase() !== (theirs.module ?? "").toLowerCase()) return false;
  if (ours.symbol !== undefined && theirs.symbol !== undefined) {
    return ours.symbol === theirs.symbol && BigInt(ours.offset) === BigInt(theirs.offset);
  }
  const bothPlain = ours.symbol === undefined && theirs.symbol === undefined;
  return bothPlain ? BigInt(ours.offset) === BigInt(theirs.offset) : true;
}

/** A frame as debuggers write it. */
export function frameText({ module, symbol, offset, source }: OpinionFrame): string {
  if (module === null) return offset;
  const place = symbol === undefined
    ? `${module}+${offset}`
    : `${module}!${symbol}${BigInt(offset) === 0n ? "" : `+${offset}`}`;
  return source === undefined ? place : `${place} [${source}]`;
}
