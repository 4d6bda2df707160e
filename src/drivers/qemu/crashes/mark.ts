/**
 * The mark of a guest that has crashed and whose machine QEMU no longer calls panicked: it was let go on for the end of
 * its console, or it said on its console alone that it panicked. It holds for one run of the machine.
 */

import { isPlainObject, parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";

const MARK = "crashed.json";
/** Run states behind which a crash can stand; the first is that of a guest whose moment nobody has ended. */
const BEHIND: ReadonlySet<string> = new Set(["running", "paused"]);

/** Marks the guest of the machine's present run as crashed. */
export async function markCrashed(context: QemuContext, record: VmRecord): Promise<void> {
  const mark = { run: record.last_start?.at ?? null };
  await context.host.files.writeAtomically(pathOf(context, record.id), JSON.stringify(mark));
}

/** Takes the mark away: the machine's memory is another one now. */
export async function forgetCrashMark(context: QemuContext, id: string): Promise<void> {
  await context.host.files.remove(pathOf(context, id));
}

/** Whether the guest of the present run is marked. A mark that cannot be understood is none. */
export async function isMarkedCrashed(context: QemuContext, record: VmRecord): Promise<boolean> {
  const text = await context.host.files.readTextIfPresent(pathOf(context, record.id));
  if (text === undefined) return false;
  try {
    const mark = parseJson(text);
    return isPlainObject(mark) && typeof mark.run === "string" && mark.run === record.last_start?.at;
  } catch {
    return false;
  }
}

/** QEMU's run state, with `guest-panicked` for what a mark stands on. Only VMs with a crash policy have marks. */
export async function statusWithMark(
  context: QemuContext,
  record: VmRecord,
  status: string,
): Promise<string> {
  const marked = record.on_crash !== undefined && BEHIND.has(status) &&
    await isMarkedCrashed(context, record);
  return marked ? "guest-panicked" : status;
}

function pathOf({ state }: QemuContext, id: string): string {
  return joinPath(state.vm(id), MARK);
}
