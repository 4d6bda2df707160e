/** What runs in a guest. */

import * as z from "zod/mini";
import { ASKED_THROUGH } from "./guest_info.ts";

/** One process. Kernel threads have no command line. */
export const GuestProcess = z.object({
  pid: z.int(),
  parent_pid: z.optional(z.int()),
  name: z.string(),
  /** The words it was started with; on Windows one text. */
  command_line: z.optional(z.string()),
  owner: z.optional(z.string()),
  /** The system's own word, as `sleeping`; Windows has none. */
  state: z.optional(z.string()),
  started_at: z.optional(z.string()),
  cpu_ms: z.optional(z.int()),
  memory_bytes: z.optional(z.number()),
  threads: z.optional(z.int()),
});
export type GuestProcess = z.infer<typeof GuestProcess>;

/** Those asked for, by pid. `found` counts what fits the question, listed or not. */
export const GuestProcesses = z.object({
  processes: z.array(GuestProcess),
  found: z.int(),
  truncated: z.optional(z.boolean()),
  ...ASKED_THROUGH,
});
export type GuestProcesses = z.infer<typeof GuestProcesses>;
