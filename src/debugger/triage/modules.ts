/** The images that an answer lists: those of the crash first. */

import type { TriageModule } from "../../contract/dump_triage.ts";
import type { Blame } from "../../dump/attribution/blame.ts";
import type { LoadedModule } from "../../dump/modules.ts";
import { hex32, hexPointer } from "../../dump/numbers.ts";
import type { DumpSession } from "../../dump/session.ts";
import type { SymbolFiles } from "../symbols/symbol_files.ts";
import { allFrames, type TriageStack } from "./stack.ts";

/** The culprit, then the images of the stack, then those of scanned words; with `limit` null all others as well. */
export async function listModules(
  session: DumpSession,
  stack: TriageStack,
  files: SymbolFiles,
  blame: Blame | null,
  limit: number | null,
): Promise<TriageModule[]> {
  const ordered = new Set<LoadedModule>();
  const add = (module: LoadedModule | null) => {
    if (module !== null) ordered.add(module);
  };
  add(blame?.module ?? null);
  for (const { address, exact } of allFrames(stack)) add(session.modules.at(exact ? address : address - 1n));
  if (limit === null) {
    for (const { module } of stack.scanned) add(module);
    for (const module of session.modules.all) add(module);
  }
  const listed = [...ordered].slice(0, limit ?? undefined);
  return await Promise.all(listed.map((module) => describeModule(session, files, module)));
}

async function describeModule(
  session: DumpSession,
  files: SymbolFiles,
  module: LoadedModule,
): Promise<TriageModule> {
  return {
    name: module.name,
    base: hexPointer(module.base, session.bits),
    size_bytes: module.size,
    ...(module.version === null ? {} : { version: module.version.file }),
    ...(module.timeDateStamp === null ? {} : { timestamp: hex32(module.timeDateStamp) }),
    symbols: await symbolState(files, module),
  };
}

/** `pdb`, `image` or `none`: what there is to name the module's addresses and to unwind its functions. */
async function symbolState(files: SymbolFiles, module: LoadedModule): Promise<string> {
  if (await files.symbols(module) !== null) return "pdb";
  return await files.image(module) !== null ? "image" : "none";
}
