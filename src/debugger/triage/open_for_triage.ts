/** Opens a dump together with the symbol stores that belong to a call. */

import { openDump } from "../../dump/open.ts";
import type { ByteSource } from "../../dump/bytes.ts";
import type { DumpSession } from "../../dump/session.ts";
import { SymbolFiles } from "../symbols/symbol_files.ts";
import { type SymbolHost, SymbolStores } from "../symbols/stores.ts";
import { parseSymbolPath } from "../symbols/symbol_path.ts";
import { decodeKernel } from "./decode_kernel.ts";

/** A dump that is ready to be asked. Disposing of it closes the symbol files. */
export interface OpenedTriage extends Disposable {
  readonly session: DumpSession;
  readonly files: SymbolFiles;
  readonly stores: SymbolStores | null;
}

/** Opens it; `symbols` is a symbol path. Fails as `openDump` does. */
export async function openForTriage(
  source: ByteSource,
  host: SymbolHost,
  symbols: string | undefined,
): Promise<OpenedTriage> {
  const opened = openDump(source);
  const stores = symbols === undefined ? null : new SymbolStores(host, parseSymbolPath(symbols));
  const session = stores === null ? opened : await decodeKernel(opened, stores);
  return {
    session,
    files: new SymbolFiles(session, stores),
    stores,
    [Symbol.dispose]: () => stores?.[Symbol.dispose](),
  };
}
