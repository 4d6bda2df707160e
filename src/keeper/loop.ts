/** When the keeper looks, and when it has nothing left to do. */

import type { Clock } from "../base/clock.ts";
import type { BackgroundNeeds, BackgroundWork } from "../drivers/background_abilities.ts";
import type { CallScope } from "../drivers/call_scope.ts";
import type { Alarm } from "./alarm.ts";
import type { KeeperJournal } from "./journal.ts";

/** How soon a caller's note is seen where nobody tells of it; each waking costs the keeper 0.3 to 0.6 ms. */
const NOTE_LOOK_MS = 2_000;
/** Everything is looked at after this time even when nobody has said a word. */
const FULL_LOOK_MS = 15_000;
/** A VM that is restarted is off for a moment; the keeper stays for that. */
const LINGER_MS = 2_000;
/** How long it goes on trying to write events that the store does not take, when nothing else is left to do. */
const LAST_WORDS_MS = 60_000;

export interface LoopParts {
  clock: Clock;
  work: BackgroundWork;
  journal: Pick<KeeperJournal, "flush" | "waiting">;
  scope: CallScope;
  /** The callers' note; `undefined` when it has gone. */
  readNote: () => Promise<string | undefined>;
  /** Rung by whoever knows of a change. */
  alarm: Alarm;
}

/** Looks until nothing has been needed for a while. Rejects with the signal's reason when that aborts first. */
export async function keepWhileNeeded(parts: LoopParts): Promise<void> {
  const { clock, work, journal, scope } = parts;
  let idleSince: number | undefined;
  for (;;) {
    const note = await parts.readNote();
    const needs = await work.look(scope);
    await journal.flush();
    if (needs.machines + needs.leases + needs.pools > 0) idleSince = undefined;
    else {
      idleSince ??= clock.monotonic();
      const patience = journal.waiting === 0 ? LINGER_MS : LAST_WORDS_MS;
      if (clock.monotonic() - idleSince >= patience) return;
    }
    await untilNextLook(parts, note, needs, idleSince !== undefined);
  }
}

async function untilNextLook(
  { clock, scope, readNote, alarm }: LoopParts,
  note: string | undefined,
  { due_at = Infinity }: BackgroundNeeds,
  isIdle: boolean,
): Promise<void> {
  const end = clock.monotonic() + (isIdle ? LINGER_MS : FULL_LOOK_MS);
  for (;;) {
    const left = Math.min(end - clock.monotonic(), due_at - clock.now());
    if (left <= 0) return;
    if (await alarm.wait(clock, Math.min(left, NOTE_LOOK_MS), scope.signal)) return;
    if (await readNote() !== note) return;
  }
}
