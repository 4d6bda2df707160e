/** The kernel's log out of a dump. */

import * as z from "zod/mini";
import { DumpWarnings } from "./dump_warnings.ts";

/** The log of a Linux kernel, as its memory holds it. */
export const DumpLog = z.lazy(() =>
  z.object({
    path: z.string(),
    dump_kind: z.string(),
    os_version: z.nullable(z.string()),
    /** Oldest first, each with its time since boot, as `dmesg` prints them: `[    3.374613] text`. */
    lines: z.array(z.string()),
    /** Lines of the whole log. */
    line_count: z.int(),
    /** Messages whose text was overwritten or is not in the dump. */
    lost_messages: z.int(),
    warnings: DumpWarnings,
    truncated: z.optional(z.boolean()),
  })
);
export type DumpLog = z.infer<typeof DumpLog>;
