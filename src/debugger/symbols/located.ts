/** What an address is called. */

import type { LoadedModule, UnloadedModule } from "../../dump/modules.ts";

/** A line of source. */
export interface SourceLine {
  /** Last part of the path that the compiler recorded. */
  readonly file: string;
  readonly line: number;
}

/** A function that an address lies in, or the nearest symbol before it. */
export interface SymbolName {
  readonly name: string;
  readonly displacement: number;
  readonly source: SourceLine | null;
}

/** An address with all that is known of it. */
export interface Located {
  readonly address: bigint;
  readonly module: LoadedModule | null;
  readonly unloaded: UnloadedModule | null;
  /** From the image's base; null in no image. */
  readonly offset: bigint | null;
  readonly symbol: SymbolName | null;
  /** Functions that the compiler put into that function there, innermost first. */
  readonly inlined: readonly SymbolName[];
}
