/** The folder of one crash. A call keeps a crash only where none is kept yet, so that nothing of an earlier one is lost. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import type { Host } from "../../host/host.ts";

/** What a crash is kept as. */
export const CRASH_FILES = {
  core: "memory.elf",
  console: "console.log",
  log: "kernel.log",
  triage: "triage.json",
} as const;

/** Throws `hv.conflict` for a folder that holds one of a crash's files, or that is no folder. It need not be there. */
export async function refuseTakenFolder({ files }: Pick<Host, "files">, folder: string): Promise<void> {
  const facts = await files.stat(folder, { follow: true });
  if (facts === undefined) return;
  if (facts.kind !== "folder") throw taken(folder, folder, `it is a ${facts.kind}`);
  for (const name of Object.values(CRASH_FILES)) {
    const path = joinPath(folder, name);
    if (await files.stat(path) !== undefined) throw taken(folder, path, `it holds "${name}" already`);
  }
}

function taken(folder: string, path: string, why: string): HvError {
  return new HvError("hv.conflict", `Cannot keep a crash in "${folder}": ${why}`, {
    hint: "Name another folder, or move away what is there",
    context: { path, wanted: "absent", found: "present" },
  });
}
