/** Says why a machine or a process stopped, from its dump. */

import type { Clock } from "../../base/clock.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import { openDump } from "../../dump/open.ts";
import type { DumpSession } from "../../dump/session.ts";
import { type DumpFiles, inspectDumpFile } from "../inspect_file.ts";
import { locateAddress } from "../symbols/locate.ts";
import { SymbolFiles } from "../symbols/symbol_files.ts";
import { SymbolStores } from "../symbols/stores.ts";
import { parseSymbolPath } from "../symbols/symbol_path.ts";
import { answerTriage } from "./answer.ts";
import { decodeKernel } from "./decode_kernel.ts";
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
  using stores = symbols === undefined ? null : new SymbolStores(files, parseSymbolPath(symbols));
  const opened = openDump(file);
  const session: DumpSession = stores === null ? opened : await decodeKernel(opened, stores);
  const symbolFiles = new SymbolFiles(session, stores);
  return await answerTriage({
    inspection,
    session,
    stack: await findStack(session, symbolFiles),
    full,
    files: symbolFiles,
    locate: (address, exact) => locateAddress(session, symbolFiles, address, exact),
    storeWarnings: () => stores?.warnings ?? [],
  });
}
