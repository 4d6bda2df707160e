/** Names the addresses of a dump with the symbols that there are. */

import { findUnloaded } from "../../dump/attribution/blame.ts";
import type { DumpSession } from "../../dump/session.ts";
import type { Located } from "./located.ts";
import type { SymbolFiles } from "./symbol_files.ts";

/**
 * What an address is called. `exact`: it was interrupted; otherwise it was returned to, and the call before it counts.
 */
export async function locateAddress(
  session: DumpSession,
  files: SymbolFiles,
  address: bigint,
  exact: boolean,
): Promise<Located> {
  const looked = exact || address === 0n ? address : address - 1n;
  const module = session.modules.at(looked);
  const unloaded = module === null ? findUnloaded(session, looked) : null;
  const base = module?.base ?? unloaded?.start ?? null;
  const offset = base === null ? null : address - base;
  const symbols = module === null ? null : await files.symbols(module);
  const found = symbols === null || module === null
    ? null
    : symbols.pdb.locate(Number(address - module.base), Number(looked - module.base));
  return { address, module, unloaded, offset, symbol: found?.symbol ?? null, inlined: found?.inlined ?? [] };
}
