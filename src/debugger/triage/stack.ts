/** The stack that a triage shows: from the best context that leads somewhere. */

import type { MinidumpThread } from "../../dump/minidump/threads.ts";
import type { StackRange } from "../../dump/windows/kernel/processes.ts";
import type { DumpSession, FoundContext, UserSession } from "../../dump/session.ts";
import type { Frame, WalkEnd } from "../../dump/unwind/frame.ts";
import { findCapturedEntries, isInCapturedFunction } from "../../dump/unwind/history.ts";
import { type ScannedWord, scanStack } from "../../dump/unwind/scan.ts";
import { type Walk, walkStack } from "../../dump/unwind/walk.ts";
import type { SymbolFiles } from "../symbols/symbol_files.ts";
import { type CapturedEntries, ImageSet } from "./images.ts";
import { walkWow64Stack, type Wow64Stack } from "./wow64_stack.ts";

/** A stack with where it began, and what else its memory holds. */
export interface TriageStack {
  readonly context: FoundContext | null;
  readonly frames: readonly Frame[];
  /** `no_context` when the dump holds no registers. */
  readonly end: WalkEnd | "no_context";
  /** Words behind the last frame that may be return addresses; empty when the stack was walked to its end. */
  readonly scanned: readonly StackWord[];
  /** The 32-bit stack below it; null when there is none. */
  readonly wow64: Wow64Stack | null;
}

/** The frames of both stacks, in the order of their calls. */
export function allFrames({ frames, wow64 }: TriageStack): Frame[] {
  return [...frames, ...wow64?.frames ?? []];
}

/** A word on the stack that may be a return address. */
export interface StackWord extends ScannedWord {
  /** It lies in a function that exception dispatch came by: most likely a return address. */
  readonly dispatched: boolean;
}

/** Words that are looked at, and those of them that are kept when nothing tells them apart. */
const MAXIMUM_SCANNED = 1024;
const MAXIMUM_WORDS = 32;

/** Those that exception dispatch came by, when there are such; else the first ones. */
function likelyWords(words: readonly StackWord[]): StackWord[] {
  const likely = words.filter(({ dispatched }) => dispatched);
  return (likely.length > 0 ? likely : words).slice(0, MAXIMUM_WORDS);
}

/**
 * Walks the stack of the crash. It begins where the exception was, when its registers were recorded. A trap frame
 * holds not all registers: when the walk from the processor's own context comes by the same place, that one counts.
 */
export async function findStack(session: DumpSession, files: SymbolFiles): Promise<TriageStack> {
  const [best] = session.contexts;
  const range = stackRange(session);
  const captured: CapturedEntries =
    best !== undefined && session.machine === "x64" && session.kind === "triage"
      ? findCapturedEntries(session.memory, session.modules, lowestStackPointer(session), range?.base ?? null)
      : new Map();
  const images = new ImageSet(session, files, captured);
  const wow64 = await findWow64Stack(session, best);
  if (best === undefined) return { context: null, frames: [], end: "no_context", scanned: [], wow64 };
  const walk = (context: FoundContext): Promise<Walk> =>
    walkStack({ memory: session.memory, imageAt: (address) => images.imageAt(address) }, context.registers);
  let context = best;
  let found = await walk(best);
  if (best.origin === "trap_frame") {
    const processor = session.contexts.find(({ origin }) => origin === "processor");
    const whole = processor === undefined ? null : await walk(processor);
    const passes = whole?.frames.some(({ address, stackPointer }) =>
      address === best.registers.programCounter && stackPointer === best.registers.stackPointer
    );
    if (processor !== undefined && whole !== null && passes === true) {
      context = processor;
      found = whole;
    }
  }
  const last = found.frames.at(-1);
  const scanned = found.end === "bottom" || found.end === "limit" || last === undefined
    ? []
    : scanStack(session.memory, session.modules, last.stackPointer, range?.base ?? null, MAXIMUM_SCANNED)
      .map((word) => ({ ...word, dispatched: isInCapturedFunction(captured, word.module, word.address) }));
  return { context, ...found, scanned: likelyWords(scanned), wow64 };
}

async function findWow64Stack(
  session: DumpSession,
  best: FoundContext | undefined,
): Promise<Wow64Stack | null> {
  const thread = session.mode === "user" ? shownThread(session) : null;
  if (session.mode !== "user" || thread === null || best?.registers.machine === "x86") return null;
  return await walkWow64Stack(session, thread);
}

/** The thread that an answer is about: of the exception, else the first. */
function shownThread(session: UserSession): MinidumpThread | null {
  const id = session.exception?.threadId ?? null;
  return session.threads.find((each) => each.id === id) ?? session.threads[0] ?? null;
}

/** Exception dispatch ran deeper than the exception itself, and left its traces there. */
function lowestStackPointer(session: DumpSession): bigint {
  const pointers = session.contexts.map(({ registers }) => registers.stackPointer).filter((value) =>
    value !== 0n
  );
  return pointers.reduce((low, value) => value < low ? value : low, pointers[0] ?? 0n);
}

function stackRange(session: DumpSession): StackRange | null {
  if (session.mode === "kernel") return session.thread?.stack ?? null;
  const stack = shownThread(session)?.stack ?? null;
  return stack === null ? null : { limit: stack.address, base: stack.address + BigInt(stack.size) };
}
