/** Lists the files that name a dump's addresses, and which of them are missing. */

import type { Clock } from "../../base/clock.ts";
import type { DumpSymbols, SymbolFileRow } from "../../contract/dump_symbols.ts";
import { findBlame } from "../../dump/attribution/blame.ts";
import type { LoadedModule } from "../../dump/modules.ts";
import { type DumpFiles, inspectDumpFile } from "../inspect_file.ts";
import { imageKey, missingFile, symbolKey } from "../symbols/keys.ts";
import type { SymbolFiles } from "../symbols/symbol_files.ts";
import type { SymbolSearch } from "../symbols/symbol_search.ts";
import { openForTriage } from "./open_for_triage.ts";
import { allFrames, findStack } from "./stack.ts";
import { wantedModules } from "./wanted.ts";

/** Of which dump, and of how many of its modules. */
export interface SymbolListOptions extends SymbolSearch {
  readonly path: string;
  /** Every module instead of those on the stack. */
  readonly all: boolean;
  readonly signal?: AbortSignal;
}

/** The list, in the order of the stack. Fails as a triage does. */
export async function listSymbols(
  host: DumpFiles,
  clock: Clock,
  options: SymbolListOptions,
): Promise<DumpSymbols> {
  const { path, all, signal } = options;
  await inspectDumpFile(host, clock, path, signal);
  using file = host.open(path);
  using opened = await openForTriage(file, host, options);
  const { session, files, stores } = opened;
  const stack = await findStack(session, files);
  const wanted = wantedModules(session, stack, findBlame(session, allFrames(stack), stack.scanned));
  if (all) { for (const module of session.modules.all) wanted.set(module, wanted.get(module) ?? false); }
  const rows: SymbolFileRow[] = [];
  const unknown: string[] = [];
  for (const [module, unwinding] of wanted) {
    signal?.throwIfAborted();
    const found = await rowsOf(files, module, unwinding);
    if (found.length === 0) unknown.push(module.name);
    rows.push(...found);
  }
  return {
    path,
    symbols: rows,
    found: rows.filter(({ found }) => found !== null).length,
    missing: rows.filter(({ found }) => found === null).length,
    unknown,
    warnings: [...stores?.warnings ?? []],
  };
}

/** The symbol file, and the image when the stack needs it or only it can tell the symbol file. */
async function rowsOf(
  files: SymbolFiles,
  module: LoadedModule,
  unwinding: boolean,
): Promise<SymbolFileRow[]> {
  const rows: SymbolFileRow[] = [];
  const codeView = await files.codeView(module);
  const symbols = symbolKey(codeView);
  if (symbols !== null && codeView !== null) {
    rows.push({
      module: module.name,
      kind: "pdb",
      ...missingFile(symbols),
      guid: hyphenated(codeView.id),
      age: codeView.age,
      found: (await files.symbols(module))?.path ?? null,
    });
  }
  const image = imageKey(module);
  if (image !== null && (unwinding || symbols === null)) {
    const found = (await files.image(module))?.path ?? null;
    rows.push({ module: module.name, kind: "image", ...missingFile(image), found });
  }
  return rows;
}

function hyphenated(id: string): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
