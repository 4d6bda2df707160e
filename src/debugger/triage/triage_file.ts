/** Says why a machine or a process stopped, from its dump. */

import type { Clock } from "../../base/clock.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import { type DumpFiles, inspectDumpFile } from "../inspect_file.ts";
import { locateAddress } from "../symbols/locate.ts";
import { answerTriage } from "./answer.ts";
import { openForTriage } from "./open_for_triage.ts";
import { findStack } from "./stack.ts";

/** What to triage, and how much to tell. */
export interface TriageOptions {
  readonly path: string;
  readonly full: boolean;
  /** Where symbols are looked for, in the syntax of `_NT_SYMBOL_PATH`. */
  readonly symbols?: string | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Reads a dump to the end: bug check, exception, stack, culprit. Reads only what it looks at, whatever the dump's size.
 * Fails as `inspectDumpFile` and `openDump` do; what is missing or damaged inside is a null or a warning.
 */
export async function triageDumpFile(
  files: DumpFiles,
  clock: Clock,
  { path, full, symbols, signal }: TriageOptions,
): Promise<DumpTriage> {
  const { inspection } = await inspectDumpFile(files, clock, path, signal);
  using file = files.open(path);
  using opened = await openForTriage(file, files, symbols);
  const { session, stores } = opened;
  return await answerTriage({
    inspection,
    session,
    stack: await findStack(session, opened.files),
    full,
    files: opened.files,
    locate: (address, exact) => locateAddress(session, opened.files, address, exact),
    storeWarnings: () => stores?.warnings ?? [],
  });
}
