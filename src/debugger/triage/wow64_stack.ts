/** The 32-bit stack of a thread, below the 64-bit code that it called (WOW64). */

import type { MinidumpThread } from "../../dump/minidump/threads.ts";
import type { UserSession } from "../../dump/session.ts";
import type { Frame, WalkEnd } from "../../dump/unwind/frame.ts";
import { walkStack } from "../../dump/unwind/walk.ts";

/** Frames of 32-bit code; none, with the reason as the end, when its registers cannot be told. */
export interface Wow64Stack {
  readonly frames: readonly Frame[];
  /** `no_context` when the place of its registers holds none. */
  readonly end: WalkEnd | "no_context";
}

/** Walks it; null for a thread that has no such side. */
export async function walkWow64Stack(
  session: UserSession,
  thread: MinidumpThread,
): Promise<Wow64Stack | null> {
  const registers = session.context32Of(thread);
  if (registers === null) return null;
  if (typeof registers === "string") return { frames: [], end: registers };
  // 32-bit images have no unwind data.
  return await walkStack({ memory: session.memory, imageAt: () => Promise.resolve(null) }, registers);
}
