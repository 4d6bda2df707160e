/** What is done when a guest crashes, and what its kernel takes for a crash. */

import * as z from "zod/mini";

/**
 * `stop`: the machine stands still, a call fails, nothing else. `collect`: the machine's memory is kept as a core, with
 * its console. `triage`: that, and it is said what happened and where.
 */
export const CrashPolicy = z.enum(["stop", "collect", "triage"]);
export type CrashPolicy = z.infer<typeof CrashPolicy>;

/** A policy that keeps something. */
export type KeepingPolicy = Exclude<CrashPolicy, "stop">;

/** What a Linux kernel can be told to panic at, and else survives or only reports. */
export const PanicCause = z.enum(["oops", "warn", "soft_lockup", "hung_task", "rcu_stall", "oom"]);
export type PanicCause = z.infer<typeof PanicCause>;

/** What becomes of a VM's crashes. */
export const CrashSettings = z.object({
  on_crash: z.optional(CrashPolicy),
  panic_on: z.optional(z.array(PanicCause)),
});
export type CrashSettings = z.infer<typeof CrashSettings>;

/**
 * How much of the machine's memory a core holds. A reduced one holds what triage, log and tasks read of it; `reason` says
 * why one is not reduced.
 */
export const CoreMemory = z.object({
  reduced: z.boolean(),
  kept_bytes: z.int(),
  of_bytes: z.int(),
  reason: z.optional(z.string()),
});
export type CoreMemory = z.infer<typeof CoreMemory>;

/** What was kept of a crash; a path that is absent could not be had, and `failure` says why. */
export const KeptCrash = z.looseObject({
  folder: z.string(),
  core: z.optional(z.string()),
  memory: z.optional(CoreMemory),
  console: z.optional(z.string()),
  /** The kernel's own log, out of the core. */
  log: z.optional(z.string()),
  /** The whole triage, as a JSON file. */
  triage: z.optional(z.string()),
  /** What happened and where, in one sentence. */
  summary: z.optional(z.string()),
  bucket: z.optional(z.string()),
  failure: z.optional(z.string()),
});
export type KeptCrash = z.infer<typeof KeptCrash>;
