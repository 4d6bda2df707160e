/** The crash of a lasting VM, kept by its policy: begun once, gone on with after a killed keeper, bounded. */

import type { KeptCrash } from "../../contract/crash_policy.ts";
import type { CallScope } from "../../drivers/call_scope.ts";
import type { SeenCrash } from "../../drivers/crash_abilities.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Host } from "../../host/host.ts";
import {
  crashFolder,
  type CrashNote,
  pruneCrashes,
  readCrashNotes,
  writeCrashNote,
} from "../../state/crash_notes.ts";
import type { StateFolder } from "../../state/layout.ts";
import { keepCrash } from "./keep_crash.ts";

/** Where it happens. */
export interface CrashPlace {
  readonly host: Host;
  readonly driver: Driver;
  readonly state: StateFolder;
}

/**
 * Keeps a crash in a folder of its own below `crashes/` and answers what was kept. A crash that is found late may have
 * been kept already, wholly or in part: then that is gone on with.
 */
export async function keepLastingCrash(
  { host, driver, state }: CrashPlace,
  crash: SeenCrash,
  scope: CallScope,
): Promise<KeptCrash> {
  const { vm, name, at, run, policy, late, after = "" } = crash;
  const earlier = late
    ? (await readCrashNotes(host, state, vm)).findLast((note) => note.run === run && note.at > after)
    : undefined;
  if (earlier?.state === "kept" && earlier.kept !== undefined) return earlier.kept;
  const note: CrashNote = earlier ?? { vm, name, at, run, policy, state: "open" };
  await writeCrashNote(host, state, note);
  const folder = crashFolder(state, note);
  const { kept } = await keepCrash(
    { host, driver, id: vm, policy: note.policy, folder, finishes: true, resumes: true },
    scope,
  );
  await writeCrashNote(host, state, { ...note, state: "kept", kept });
  for (const gone of await pruneCrashes(host, state)) scope.warn?.(`Removed an old crash: "${gone}"`);
  return kept;
}
