/** How far the console of a VM's present run has been heard, in the VM's folder, for whoever comes after a killed keeper. */

import { isPlainObject, parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";

const NOTE = "console.json";

/** Notes the offset up to which the log was looked at. */
export async function noteHeard(
  { host, state }: QemuContext,
  { id, last_start: start }: VmRecord,
  at: number,
): Promise<void> {
  await host.files.writeAtomically(
    joinPath(state.vm(id), NOTE),
    JSON.stringify({ run: start?.at ?? null, at }),
  );
}

/** The offset of the present run; `undefined` when nobody has listened to it. */
export async function readHeard(
  { host, state }: QemuContext,
  { id, last_start: start }: VmRecord,
): Promise<number | undefined> {
  const text = await host.files.readTextIfPresent(joinPath(state.vm(id), NOTE));
  if (text === undefined) return undefined;
  try {
    const note = parseJson(text);
    const isOfNow = isPlainObject(note) && typeof note.run === "string" && note.run === start?.at;
    return isOfNow && typeof note.at === "number" ? note.at : undefined;
  } catch {
    return undefined;
  }
}

/** Nobody listens any more: what is printed from now on is of no interest. */
export async function forgetHeard({ host, state }: QemuContext, id: string): Promise<void> {
  await host.files.remove(joinPath(state.vm(id), NOTE));
}
