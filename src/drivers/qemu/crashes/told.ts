/** What the kernel of a VM's present run was told to panic at, in the VM's folder: written by the keeper, read by every call. */

import * as z from "zod/mini";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { PanicCause } from "../../../contract/crash_policy.ts";
import type { Vm } from "../../../contract/vm.ts";
import { seeKeeper } from "../../../state/keeper_mark.ts";
import type { PanicTold } from "../../crash_abilities.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";
import { panicCauses } from "./panic_words.ts";

const NOTE = "told.json";

/** What is known of one boot of the guest. */
export const ToldNote = z.object({
  /** When the machine was started. */
  run: z.string(),
  causes: z.array(PanicCause),
  /** Whether the guest has read back that it panics at all of them. */
  told: z.boolean(),
  /** Why it was not, or not yet. */
  problem: z.optional(z.string()),
  /** When that was so. */
  at: z.string(),
  /** How far it has come: nobody there, being asked, an answer for good or ill. */
  phase: z.enum(["silent", "asking", "answered"]),
});
export type ToldNote = z.infer<typeof ToldNote>;

/** Writes the note, whole or not at all. */
export async function writeTold({ host, state }: QemuContext, id: string, note: ToldNote): Promise<void> {
  await host.files.writeAtomically(joinPath(state.vm(id), NOTE), JSON.stringify(note));
}

/** The note of the present run for what the record wants; `undefined` when nobody has written one. */
export async function readTold(
  { host, state }: QemuContext,
  record: VmRecord,
): Promise<ToldNote | undefined> {
  const text = await host.files.readTextIfPresent(joinPath(state.vm(record.id), NOTE));
  if (text === undefined) return undefined;
  try {
    const note = z.safeParse(ToldNote, parseJson(text)).data;
    const isOfNow = note?.run === record.last_start?.at &&
      panicCauses(record).join() === note?.causes.join();
    return isOfNow ? note : undefined;
  } catch {
    return undefined;
  }
}

/** How long is waited from the call on. A keeper that is being started comes to its machines within about a second. */
const NOBODY_LIMIT_MS = 8_000;
/** By phase; a whole Debian that boots under emulation took 5 s from its agent's first word to its kernel's. */
const LIMITS_MS: Readonly<Record<ToldNote["phase"], number>> = { silent: 3_000, asking: 20_000, answered: 0 };
const LOOK_MS = 50;

/** Waits a moment for the keeper and the guest, and says how it stands; `undefined` for a VM that need not be told anything. */
export async function awaitTold(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<PanicTold | undefined> {
  if (panicCauses(record).length === 0) return undefined;
  const { clock } = context.host;
  const start = clock.monotonic();
  for (;;) {
    const note = await readTold(context, record);
    const limit = note === undefined ? NOBODY_LIMIT_MS : LIMITS_MS[note.phase];
    if (context.keeper === undefined || clock.monotonic() - start >= limit) {
      return await assess(context, note);
    }
    await clock.sleep(LOOK_MS, signal);
  }
}

/** What a VM that runs says of it; nothing for one whose kernel need not be told anything. */
export async function toldFacts(
  context: QemuContext,
  record: VmRecord,
): Promise<Pick<Vm, "panic_told" | "panic_problem">> {
  if (panicCauses(record).length === 0) return {};
  const { told, problem } = await assess(context, await readTold(context, record));
  return { panic_told: told, ...(problem === undefined ? {} : { panic_problem: problem }) };
}

/** A guest that has booted anew while no keeper watched it has forgotten what it was told. */
async function assess({ host, state }: QemuContext, note: ToldNote | undefined): Promise<PanicTold> {
  if (note?.told) {
    const { alive, facts } = await seeKeeper(host, state);
    const isSure = alive && facts !== undefined && facts.since <= note.at;
    return isSure ? { told: true } : { told: false, problem: "No keeper watches whether it has booted anew" };
  }
  return { told: false, problem: note?.problem ?? "The keeper has not come to it yet" };
}
