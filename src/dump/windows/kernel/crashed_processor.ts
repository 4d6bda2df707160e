/** Which processor crashed. */

import type { CrashedProcessor } from "../../session.ts";
import type { KernelThread } from "./processes.ts";
import type { Processor } from "./processors.ts";

/** The largest kernel stack: 128 KiB, of ARM64. Where a thread does not tell its limit, this is taken. */
const LARGEST_STACK = 0x20000n;

/**
 * Tells the processor that crashed. `copied` is the one that a small dump keeps a copy of; `stackPointer` is the
 * header's, which belongs to the bug check call or, for some codes, to the exception on the same stack.
 */
export function findCrashed(
  processors: readonly Processor[],
  copied: number | null,
  stackPointer: bigint | null,
  readThread: (address: bigint) => KernelThread | null,
): CrashedProcessor | null {
  const [first] = processors;
  if (first === undefined) return null;
  const byCopy = processors.find(({ index }) => index === copied);
  if (byCopy !== undefined) return { processor: byCopy, by: "triage_copy" };
  if (processors.length === 1) return { processor: first, by: "only_one" };
  if (stackPointer !== null) {
    const bySaved = processors.find(({ context }) => context?.stackPointer === stackPointer);
    if (bySaved !== undefined) return { processor: bySaved, by: "stack_pointer" };
    const byRange = processors.find(({ currentThread }) => {
      const thread = currentThread === null ? null : readThread(currentThread);
      return thread !== null && isOnStack(thread, stackPointer);
    });
    if (byRange !== undefined) return { processor: byRange, by: "stack_range" };
  }
  return { processor: first, by: "assumed" };
}

function isOnStack({ stack, initialStack }: KernelThread, address: bigint): boolean {
  if (stack !== null) return address >= stack.limit && address < stack.base;
  return initialStack !== null && address < initialStack && initialStack - address <= LARGEST_STACK;
}
