/** The files that name what a dump's addresses are. */

import * as z from "zod/mini";

/** Files by module: those of the crash's stack, or of all modules. */
export const DumpSymbols = z.lazy(() =>
  z.object({
    path: z.string(),
    symbols: z.array(z.object({
      /** The image that the file belongs to. */
      module: z.string(),
      /** `pdb` names addresses; `image` lets the stack be unwound where the dump does not hold it. */
      kind: z.enum(["pdb", "image"]),
      /** The file's name in a store. */
      name: z.string(),
      /** GUID and age, or time stamp and size, as stores write them. */
      key: z.string(),
      /** Of symbol files: the GUID with hyphens. */
      guid: z.optional(z.string()),
      age: z.optional(z.int()),
      /** Path below the root of a symbol store. */
      url_path: z.string(),
      /** Where it was found; null when it is missing. */
      found: z.nullable(z.string()),
    })),
    found: z.int(),
    missing: z.int(),
    /** Modules of which the dump tells neither file. */
    unknown: z.array(z.string()),
    warnings: z.array(z.object({ reason: z.string(), message: z.string() })),
  })
);
export type DumpSymbols = z.infer<typeof DumpSymbols>;
export type SymbolFileRow = DumpSymbols["symbols"][number];
