/** The tasks of a machine out of its dump. */

import * as z from "zod/mini";
import { DumpWarnings } from "./dump_warnings.ts";

/** One letter as `ps` shows it. */
export const TaskState = z.enum(["R", "S", "D", "T", "t", "Z", "X", "I", "?"]);

/** Tasks of a Linux kernel: processes, threads, and the kernel's own. */
export const DumpTasks = z.lazy(() =>
  z.object({
    path: z.string(),
    dump_kind: z.string(),
    os_version: z.nullable(z.string()),
    /** What idle processors run comes first, as pid 0; then the kernel's own order. */
    tasks: z.array(z.object({
      /** Number of the task; of a process's first thread the same as `process`. */
      pid: z.int(),
      process: z.int(),
      comm: z.string(),
      /** R running or ready, S sleeping, D waiting for a device or lock, T stopped, Z ended, I idle thread of the kernel. */
      state: TaskState,
      cpu: z.int(),
      /** Whether a processor was executing it. */
      running: z.boolean(),
      /** Whether it belongs to the kernel. */
      kernel: z.boolean(),
      /** `module!function+offset`, innermost first; null when it cannot be walked. */
      stack: z.optional(z.nullable(z.array(z.string()))),
    })),
    /** Tasks of the whole machine, the idle ones of its processors left out. */
    task_count: z.int(),
    warnings: DumpWarnings,
    truncated: z.optional(z.boolean()),
  })
);
export type DumpTasks = z.infer<typeof DumpTasks>;
