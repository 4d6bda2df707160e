/** What every tool that reads symbols takes. */

import * as z from "zod/mini";
import { checkDownload } from "../download_policy.ts";
import type { CallContext } from "../tool.ts";
import { Path } from "../../contract/path.ts";
import { type SymbolSearch, symbolSearch } from "../../debugger/symbols/symbol_search.ts";

const LARGEST_MB = 1024 * 1024;

/** The fields, for a tool's `input`. */
export const SYMBOL_FIELDS = {
  symbols: z.optional(Path),
  download: z._default(z.boolean(), false),
  download_limit_mb: z._default(z.int().check(z.minimum(1), z.maximum(LARGEST_MB)), 2048),
} as const;

/** What they mean, for a tool's `help`. */
export const SYMBOL_HELP = {
  symbols: "Symbol stores, as in _NT_SYMBOL_PATH, which counts when this is left out",
  download: "Fetch what is missing from the servers of that path, and keep it",
  download_limit_mb: "The most that is fetched",
} as const;

/** The search that a call asks for. */
export function searchOf(
  { symbols, download, download_limit_mb }: {
    symbols?: string | undefined;
    download: boolean;
    download_limit_mb: number;
  },
  { host, config, door, state, signal, progress }: CallContext,
): SymbolSearch {
  return symbolSearch(host, {
    ...{ symbols, download, signal, progress },
    allow: (address) => checkDownload(config, door, address),
    limitBytes: download_limit_mb * 1024 * 1024,
    cache: state.symbols,
  });
}
