/**
 * Files that the guest agent holds open for us. They are closed on every way out that still reaches the agent. It knows
 * no owner of a handle: what a call leaves open that is killed, the next one closes (`traces.ts`). What the agent was
 * opening at that very moment stays open until it restarts, since nobody has heard its number.
 */

import type { Clock } from "../../../base/clock.ts";
import { startDeadline } from "../../../base/deadline.ts";
import type { AgentAnswer } from "./protocol.ts";
import type { AgentRounds } from "./rounds.ts";

/** Opening is quick; a caller's end of patience must not hide a handle that has been opened. */
const OPEN_LIMIT_MS = 15_000;
const CLOSE_LIMIT_MS = 5_000;

/** Opens files in one round and notes the handles in `opened`, whatever becomes of the others. Answers one for each file. */
export async function openHandles(
  link: AgentRounds,
  opened: number[],
  files: readonly { path: string; mode: string }[],
): Promise<AgentAnswer[]> {
  const opens = files.map(({ path, mode }) => ({ name: "guest-file-open", arguments: { path, mode } }));
  const answers = await link.ask(
    opens,
    { signal: new AbortController().signal, limitMs: OPEN_LIMIT_MS, changes: true },
  );
  for (const answer of answers) {
    if (answer.ok && typeof answer.value === "number") opened.push(answer.value);
  }
  return answers;
}

/** Closes handles. Answers whether the agent has heard of it. */
export async function closeHandles(
  link: AgentRounds,
  clock: Clock,
  handles: readonly number[],
): Promise<boolean> {
  if (handles.length === 0) return true;
  using limit = startDeadline(clock, CLOSE_LIMIT_MS);
  try {
    await link.ask(handles.map((handle) => ({ name: "guest-file-close", arguments: { handle } })), {
      signal: limit.signal,
      patienceMs: CLOSE_LIMIT_MS,
    });
    return true;
  } catch {
    return false;
  }
}
