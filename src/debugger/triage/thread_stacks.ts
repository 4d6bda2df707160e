/** The stacks of a process's other threads. */

import type { UserSession } from "../../dump/session.ts";
import type { Frame, WalkEnd } from "../../dump/unwind/frame.ts";
import { walkStack } from "../../dump/unwind/walk.ts";
import type { SymbolFiles } from "../symbols/symbol_files.ts";
import { ImageSet } from "./images.ts";
import { walkWow64Stack, type Wow64Stack } from "./wow64_stack.ts";

/** A thread beside the one that an answer is about. */
export interface ThreadStack {
  readonly id: number;
  readonly name: string | null;
  readonly frames: readonly Frame[];
  /** `no_context` when its registers were not recorded. */
  readonly end: WalkEnd | "no_context";
  /** The 32-bit stack below it; null when there is none. */
  readonly wow64: Wow64Stack | null;
}

/** Nobody reads more, and each walk costs. */
const MOST_THREADS = 256;

/** Every thread but the one whose exception it was, or without one but the first; in the dump's order. */
export async function findThreadStacks(session: UserSession, files: SymbolFiles): Promise<ThreadStack[]> {
  const shown = session.exception?.threadId ?? session.threads[0]?.id ?? null;
  const images = new ImageSet(session, files, new Map());
  const ground = { memory: session.memory, imageAt: (address: bigint) => images.imageAt(address) };
  const stacks: ThreadStack[] = [];
  for (const thread of session.threads.filter(({ id }) => id !== shown).slice(0, MOST_THREADS)) {
    const { id, name, context } = thread;
    const walk = context === null
      ? { frames: [], end: "no_context" as const }
      : await walkStack(ground, context);
    stacks.push({ id, name, ...walk, wow64: await walkWow64Stack(session, thread) });
  }
  return stacks;
}
