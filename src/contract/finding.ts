/** What a check of the host found. */

import * as z from "zod/mini";

/** `ok` needs nothing, `warning` works with a drawback, `broken` must be fixed before hvlab can work. */
export const Finding = z.object({
  check: z.string(),
  status: z.enum(["ok", "warning", "broken"]),
  finding: z.string(),
  /** What to do about it; absent when nothing needs doing. */
  fix: z.optional(z.string()),
});
export type Finding = z.infer<typeof Finding>;
