/** Plan tokens: what would be lost, and the proof that exactly this was looked at. */

import * as z from "zod/mini";

/** One thing that a destructive call would take away. */
export const Loss = z.object({
  what: z.string(),
  path: z.optional(z.string()),
  size_bytes: z.optional(z.int()),
});
export type Loss = z.infer<typeof Loss>;

/** What a call would do, shown before it is done. */
export const Preview = z.object({
  summary: z.string(),
  target: z.nullable(z.string()),
  losses: z.array(Loss),
});
export type Preview = z.infer<typeof Preview>;

/** The token that `plan` gives; the call carries it as `PLAN_ID:DIGEST`. */
export const Plan = z.object({
  plan_id: z.string(),
  digest: z.string(),
  expires_at: z.string(),
  confirm: z.string(),
  preview: Preview,
});
export type Plan = z.infer<typeof Plan>;
