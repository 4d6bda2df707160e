/** What crash policies of lasting VMs kept, as notes in `crashes/`: one folder for each crash, bounded in number and size. */

import * as z from "zod/mini";
import { parseJson } from "../base/json.ts";
import { joinPath } from "../base/paths.ts";
import { KeptCrash } from "../contract/crash_policy.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "./layout.ts";

const NOTE = "crash.json";
/** How many crashes of one VM stay; the oldest go. */
export const KEPT_PER_VM = 5;
/** What the crashes of all VMs may take on the disk together; the oldest go, the newest one never. */
export const KEPT_BYTES = 20 * 1024 ** 3;

/** A crash of a lasting VM. `open` until all of it is kept, so that whoever comes after a killed keeper goes on. */
export const CrashNote = z.object({
  vm: z.string(),
  name: z.string(),
  /** When the guest crashed. */
  at: z.string(),
  /** When the machine was started that crashed. */
  run: z.string(),
  policy: z.enum(["collect", "triage"]),
  state: z.enum(["open", "kept"]),
  kept: z.optional(KeptCrash),
});
export type CrashNote = z.infer<typeof CrashNote>;

/** A crash's own folder. */
export function crashFolder(state: StateFolder, { vm, at }: Pick<CrashNote, "vm" | "at">): string {
  return joinPath(state.crashes, `${vm}-${at.replaceAll(":", "-")}`);
}

/** Writes the note of a crash, whole or not at all; its folder is made when it is not there. */
export async function writeCrashNote({ files }: Host, state: StateFolder, note: CrashNote): Promise<void> {
  const folder = crashFolder(state, note);
  await files.makeFolder(folder);
  await files.writeAtomically(joinPath(folder, NOTE), `${JSON.stringify(note, undefined, 2)}\n`);
}

/** The notes of a VM's crashes, or of all VMs', oldest first. Folders of operations and damaged notes are left out. */
export async function readCrashNotes({ files }: Host, state: StateFolder, vm = "vm-"): Promise<CrashNote[]> {
  if (await files.stat(state.crashes) === undefined) return [];
  const notes: CrashNote[] = [];
  for (const { name } of await files.list(state.crashes)) {
    if (!name.startsWith(vm)) continue;
    const text = await files.readTextIfPresent(joinPath(state.crashes, name, NOTE));
    const note = text === undefined ? undefined : readNote(text);
    if (note !== undefined && crashFolder(state, note) === joinPath(state.crashes, name)) notes.push(note);
  }
  return notes.sort((a, b) => (a.at < b.at ? -1 : 1));
}

/** Removes the oldest crashes beyond what may be kept. Answers the folders that went. */
export async function pruneCrashes(host: Host, state: StateFolder): Promise<string[]> {
  const removed: string[] = [];
  let bytes = 0;
  const ofVm = new Map<string, number>();
  const newestFirst = (await readCrashNotes(host, state)).reverse();
  for (const [index, note] of newestFirst.entries()) {
    const folder = crashFolder(state, note);
    const count = (ofVm.get(note.vm) ?? 0) + 1;
    ofVm.set(note.vm, count);
    bytes += await sizeOf(host, folder);
    if (index === 0 || (count <= KEPT_PER_VM && bytes <= KEPT_BYTES)) continue;
    await host.files.remove(folder);
    removed.push(folder);
  }
  return removed;
}

async function sizeOf({ files }: Host, folder: string): Promise<number> {
  let bytes = 0;
  for (const { name } of await files.list(folder)) {
    const facts = await files.stat(joinPath(folder, name));
    bytes += facts?.allocated_bytes ?? facts?.size_bytes ?? 0;
  }
  return bytes;
}

function readNote(text: string): CrashNote | undefined {
  try {
    return z.safeParse(CrashNote, parseJson(text)).data;
  } catch {
    return undefined;
  }
}
