/** What is wrong with a dump, as answers carry it. */

import * as z from "zod/mini";

/** Things wrong or missing that did not keep the rest from being read. */
export const DumpWarnings = z.array(z.object({
  /** A word for programs, such as `truncated`, `missing_memory`, `kernel_list`. */
  reason: z.string(),
  message: z.string(),
  offset: z.optional(z.int()),
  expected: z.optional(z.union([z.int(), z.string()])),
  actual: z.optional(z.union([z.int(), z.string()])),
}));
