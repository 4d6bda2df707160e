/** Which tools a server lists, as chosen at its start. */

import { HvError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import { FAMILIES } from "../tools/tool.ts";

export interface Selection {
  /** Families to list whole, `default` for the default profile, `all` for everything; empty is the default profile. */
  toolsets: readonly string[];
  /** Lists reading tools only. */
  readOnly: boolean;
}

/** The words that `--toolsets` takes. */
export const TOOLSETS: readonly string[] = [...FAMILIES, "all", "default"];

/** Reads the words of `--toolsets`; throws `hv.usage` for one that is not known. */
export function readToolsets(words: readonly string[]): string[] {
  for (const word of words) {
    if (TOOLSETS.includes(word)) continue;
    const near = suggest(word, TOOLSETS);
    throw new HvError("hv.usage", `There is no toolset "${word}"`, {
      hint: near === undefined ? `Toolsets are ${TOOLSETS.join(", ")}` : `Did you mean "${near}"?`,
      context: { toolset: word, known: [...TOOLSETS] },
    });
  }
  return [...words];
}
