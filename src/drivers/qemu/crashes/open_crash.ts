/** A crash that a keeper was keeping when it was killed, and whose machine has ended since. */

import { copyThroughJson } from "../../../base/json.ts";
import { readCrashNotes } from "../../../state/crash_notes.ts";
import type { Journal } from "../../background_abilities.ts";
import type { CrashKeeping } from "../../crash_abilities.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";

/** Goes on with the crash of a VM's last run, as far as that can be done without its machine, and writes it down. */
export async function finishOpenCrash(
  context: QemuContext,
  { id, last_start: start }: VmRecord,
  keep: CrashKeeping,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const notes = await readCrashNotes(context.host, context.state, id);
  const note = notes.findLast(({ run }) => run === start?.at);
  if (note?.state !== "open") return;
  const { name, at, run, policy } = note;
  const kept = await keep({ vm: id, name, at, run, policy, late: true }, signal);
  journal.add({ at, vm: id, event: "crashed", details: { late: true, crash: copyThroughJson(kept) ?? {} } });
}
