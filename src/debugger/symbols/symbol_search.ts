/**
 * Where a call looks for symbols: the path that it was given, the cache of earlier downloads, and servers on request.
 */

import { HvError } from "../../base/errors.ts";
import type { Progress } from "../../contract/operation.ts";
import type { Host } from "../../host/host.ts";
import { SymbolDownloads } from "./downloads.ts";
import { parseSymbolPath } from "./symbol_path.ts";

/** What a reading of a dump is given. */
export interface SymbolSearch {
  /** In the syntax of `_NT_SYMBOL_PATH`; without it no symbols are looked for. */
  readonly symbols?: string | undefined;
  /** What earlier calls have fetched. It is looked at when the path names a server. */
  readonly cache?: string;
  /** The servers of the path, when they may be asked. */
  readonly downloads?: SymbolDownloads;
}

/** What a call says of its symbols. */
export interface SymbolWish {
  readonly symbols: string | undefined;
  readonly download: boolean;
  readonly limitBytes: number;
  readonly cache: string;
  /** Throws for an address that may not be asked. */
  readonly allow: (address: string) => void;
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
}

/**
 * The search of a call; without a path of its own that of `_NT_SYMBOL_PATH` counts. Throws `hv.usage` when downloads
 * are asked for and no server is named, and what `allow` throws for its servers.
 */
export function symbolSearch(host: Host, wish: SymbolWish): SymbolSearch {
  const symbols = wish.symbols ?? host.environment.get("_NT_SYMBOL_PATH");
  const { cache, limitBytes, allow, signal, progress } = wish;
  if (!wish.download) return { symbols, cache };
  const { servers } = parseSymbolPath(symbols ?? "");
  if (servers.length === 0) {
    throw new HvError("hv.usage", "There is no symbol server to fetch from", {
      hint: "Name it: --symbols 'srv*https://msdl.microsoft.com/download/symbols' --download",
      context: { symbols: symbols ?? null },
    });
  }
  for (const server of servers) allow(server);
  const options = { servers, cache, limitBytes, allow, signal, progress };
  return { symbols, cache, downloads: new SymbolDownloads(host, options) };
}
