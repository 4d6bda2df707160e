/** A debugger's opinion of a dump, beside our own. */

import * as z from "zod/mini";

/** Two readings of one dump, or the texts of debugger commands. */
export const DumpAnalysis = z.lazy(() => {
  const text = z.nullable(z.string());
  const frame = z.object({
    /** Short name of the image, as debuggers write it: `nt`, `evil`. Null when the address is in none. */
    module: text,
    symbol: z.optional(z.string()),
    /** From the symbol, else from the image's base. */
    offset: z.string(),
    source: z.optional(z.string()),
  });
  /** What one reader found; null is what it did not tell. */
  const opinion = z.object({
    os_version: text,
    bugcheck: z.nullable(z.object({ code: z.string(), name: text, arguments: z.array(z.string()) })),
    exception: z.nullable(z.object({ code: z.string(), address: text })),
    /** The image to blame. */
    module: text,
    symbol: text,
    version: text,
    process: text,
    bucket: text,
    module_count: z.nullable(z.int()),
    stack: z.array(frame),
  });
  return z.object({
    path: z.string(),
    debugger: z.object({ program: z.string(), version: text }),
    /** Whether the answer comes from an earlier run on the same bytes. */
    cached: z.boolean(),
    complete: z.boolean(),
    /** Why the debugger was ended: `silence`, `time`, `memory`, `output`; `exit` when it went by itself too early. */
    stopped: z.optional(z.enum(["silence", "time", "memory", "output", "exit"])),
    exit_code: z.nullable(z.int()),
    /** The summary of our own reading. */
    summary: z.string(),
    native: z.optional(opinion),
    second: z.optional(opinion),
    /** Fields that both tell, and tell differently. */
    disagreements: z.optional(
      z.array(z.object({ field: z.string(), native: z.string(), second: z.string() })),
    ),
    /** The commands' texts: those that were asked for; all of the usual ones with `full`. */
    commands: z.optional(z.array(z.object({ command: z.string(), text: z.string(), complete: z.boolean() }))),
    /** What there is of the text when the debugger did not get to the end. */
    partial_text: z.optional(z.string()),
    /** Bytes of the text that were not kept. */
    dropped_bytes: z.optional(z.int()),
    warnings: z.array(z.object({ reason: z.string(), message: z.string() })),
  });
});
export type DumpAnalysis = z.infer<typeof DumpAnalysis>;
export type Opinion = NonNullable<DumpAnalysis["native"]>;
export type OpinionFrame = Opinion["stack"][number];
export type StopReason = NonNullable<DumpAnalysis["stopped"]>;
