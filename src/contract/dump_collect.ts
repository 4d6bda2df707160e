/** Dumps that were fetched from a VM. */

import * as z from "zod/mini";
import { CoreMemory } from "./crash_policy.ts";

/** What was fetched, and what was not. */
export const DumpCollection = z.object({
  vm: z.string(),
  name: z.string(),
  files: z.array(z.object({
    path: z.string(),
    /** `guest`: a file of its own; `memory`: its memory, from outside. */
    source: z.enum(["guest", "memory"]),
    guest_path: z.optional(z.string()),
    size_bytes: z.int(),
    /** Of a core that was to be sparse: how much of the memory it holds. */
    memory: z.optional(CoreMemory),
    /** Of files of the guest: what was compared on the way. */
    sha256: z.optional(z.string()),
    /** What `dump inspect` says of it. */
    dump_kind: z.nullable(z.string()),
    os_version: z.nullable(z.string()),
    bugcheck_code: z.nullable(z.string()),
    bugcheck_name: z.nullable(z.string()),
    time: z.nullable(z.string()),
    machine: z.nullable(z.string()),
    processors: z.nullable(z.int()),
    /** Why it cannot be inspected; null when it can. */
    failure: z.nullable(z.string()),
  })),
  skipped: z.array(z.object({
    source: z.enum(["guest", "memory"]),
    guest_path: z.optional(z.string()),
    code: z.string(),
    message: z.string(),
  })),
});
export type DumpCollection = z.infer<typeof DumpCollection>;
export type CollectedDump = DumpCollection["files"][number];
