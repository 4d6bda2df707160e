/** Opens a dump together with the symbol stores that belong to a call. */

import { openDump } from "../../dump/open.ts";
import type { ByteSource } from "../../dump/bytes.ts";
import type { DumpSession } from "../../dump/session.ts";
import { SymbolFiles } from "../symbols/symbol_files.ts";
import { type SymbolHost, SymbolStores } from "../symbols/stores.ts";
import { parseSymbolPath } from "../symbols/symbol_path.ts";
import type { SymbolSearch } from "../symbols/symbol_search.ts";
import { decodeKernel } from "./decode_kernel.ts";

/** A dump that is ready to be asked. Disposing of it closes the symbol files. */
export interface OpenedTriage extends Disposable {
  readonly session: DumpSession;
  readonly files: SymbolFiles;
  readonly stores: SymbolStores | null;
}

/** Opens it. Fails as `openDump` does. */
export async function openForTriage(
  source: ByteSource,
  host: SymbolHost,
  search: SymbolSearch,
): Promise<OpenedTriage> {
  const opened = openDump(source);
  const stores = await openStores(host, search);
  const session = stores === null ? opened : await decodeKernel(opened, stores);
  return {
    session,
    files: new SymbolFiles(session, stores),
    stores,
    [Symbol.dispose]: () => stores?.[Symbol.dispose](),
  };
}

async function openStores(
  host: SymbolHost,
  { symbols, cache, downloads }: SymbolSearch,
): Promise<SymbolStores | null> {
  if (symbols === undefined) return null;
  const path = parseSymbolPath(symbols);
  const kept = path.servers.length > 0 && cache !== undefined && await host.stat(cache) !== undefined
    ? [cache]
    : [];
  return new SymbolStores(host, { ...path, roots: [...path.roots, ...kept] }, downloads ?? null);
}
