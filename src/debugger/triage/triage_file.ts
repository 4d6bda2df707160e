/** Says why a machine or a process stopped, from its dump. */

import type { Clock } from "../../base/clock.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import { openDump } from "../../dump/open.ts";
import type { DumpSession } from "../../dump/session.ts";
import { type DumpFiles, inspectDumpFile } from "../inspect_file.ts";
import { answerTriage, placeOf } from "./answer.ts";
import { findStack } from "./stack.ts";

/** What to triage, and how much to tell. */
export interface TriageOptions {
  readonly path: string;
  readonly full: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Reads a dump to the end: bug check, exception, stack, culprit. Reads only what it looks at, whatever the dump's size.
 * Fails as `inspectDumpFile` and `openDump` do; what is missing or damaged inside is a null or a warning.
 */
export async function triageDumpFile(
  files: DumpFiles,
  clock: Clock,
  { path, full, signal }: TriageOptions,
): Promise<DumpTriage> {
  const { inspection } = await inspectDumpFile(files, clock, path, signal);
  using file = files.open(path);
  const session: DumpSession = openDump(file);
  const stack = await findStack(session);
  return await answerTriage({
    inspection,
    session,
    stack,
    full,
    locate: (address, exact) => Promise.resolve(placeOf(session, address, exact)),
    missing: () => Promise.resolve([]),
  });
}
