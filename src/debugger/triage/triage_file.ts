/** Says why a machine or a process stopped, from its dump. */

import type { Clock } from "../../base/clock.ts";
import type { DumpInspection } from "../../contract/dump.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import { type DumpFiles, inspectDumpFile } from "../inspect_file.ts";
import { maybeText, readConsoleText } from "../linux/console_file.ts";
import { locateAddress } from "../symbols/locate.ts";
import type { SymbolSearch } from "../symbols/symbol_search.ts";
import { answerTriage } from "./answer.ts";
import { openForTriage } from "./open_for_triage.ts";
import { findStack } from "./stack.ts";
import { findThreadStacks } from "./thread_stacks.ts";

/** What to triage, and how much to tell. */
export interface TriageOptions extends SymbolSearch {
  readonly path: string;
  readonly full: boolean;
  readonly signal?: AbortSignal;
}

const LINUX_CORE = /^(?:elf_core|kdump)/;

/**
 * Reads a dump to the end: what happened, where, the stack, whom to blame. Reads only what it looks at, whatever the
 * dump's size. The text of a Linux console is taken as well.
 *
 * Fails as `inspectDumpFile`, `openDump` and `openLinuxKernel` do; what is missing or damaged inside is a null or a
 * warning.
 */
export async function triageDumpFile(
  files: DumpFiles,
  clock: Clock,
  options: TriageOptions,
): Promise<DumpTriage> {
  const { path, full, symbols, signal } = options;
  let inspection: DumpInspection;
  try {
    ({ inspection } = await inspectDumpFile(files, clock, path, signal));
  } catch (thrown) {
    const answer = maybeText(thrown) ? await triageText(files, options) : null;
    if (answer === null) throw thrown;
    return answer;
  }
  if (!LINUX_CORE.test(inspection.dump_kind)) return await triageWindows(files, options, inspection);
  const { triageLinuxCore } = await import("../linux/triage_core.ts");
  using file = files.open(path);
  return await triageLinuxCore(files, file, inspection, { full, symbols });
}

/** Null when the file holds no text. */
async function triageText(files: DumpFiles, { path, full }: TriageOptions): Promise<DumpTriage | null> {
  using file = files.open(path);
  const read = readConsoleText(file);
  if (read === null) return null;
  const { answerConsoleText } = await import("../linux/answer_text.ts");
  return answerConsoleText(read.text, { path, full, warnings: read.warnings });
}

async function triageWindows(
  files: DumpFiles,
  options: TriageOptions,
  inspection: DumpInspection,
): Promise<DumpTriage> {
  const { path, full } = options;
  using file = files.open(path);
  using opened = await openForTriage(file, files, options);
  const { session, stores } = opened;
  return await answerTriage({
    inspection,
    session,
    stack: await findStack(session, opened.files),
    threads: full && session.mode === "user" ? await findThreadStacks(session, opened.files) : [],
    full,
    files: opened.files,
    locate: (address, exact) => locateAddress(session, opened.files, address, exact),
    storeWarnings: () => stores?.warnings ?? [],
  });
}
