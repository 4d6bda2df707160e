/** Crash dumps in folders: which there are, and what was passed over. */

import * as z from "zod/mini";

const text = z.nullable(z.string());

/** Why `dump find` did not list a path. */
export const DumpSkipReason = z.enum([
  "permission",
  "not_a_dump",
  "empty",
  "too_short",
  "being_written",
  "damaged",
  "io_error",
  "duplicate",
  "limit",
]);
export type DumpSkipReason = z.infer<typeof DumpSkipReason>;

/** One dump that was found. */
export const FoundDump = z.object({
  path: z.string(),
  dump_kind: z.string(),
  os_version: text,
  bugcheck_code: text,
  bugcheck_name: text,
  /** User-mode dumps have an exception instead of a bug check. */
  exception_code: z.optional(text),
  exception_name: z.optional(text),
  /** When the dump was taken, or last written; ISO 8601. */
  time: text,
  /** `header` or `file`: where the time comes from. */
  time_source: z.nullable(z.enum(["header", "file"])),
  size_bytes: z.int(),
  /** Reasons of the header's warnings. */
  warnings: z.optional(z.array(z.string())),
});
export type FoundDump = z.infer<typeof FoundDump>;

/** One path that was not listed, and why. */
export const SkippedPath = z.object({ path: z.string(), reason: DumpSkipReason, message: z.string() });
export type SkippedPath = z.infer<typeof SkippedPath>;

/** The dumps below some folders, newest first. */
export const DumpFindResult = z.object({
  dumps: z.array(FoundDump),
  /** All dumps that were found, listed or not. */
  found: z.int(),
  skipped: z.int(),
  skipped_by_reason: z.record(z.string(), z.int()),
  skipped_paths: z.array(SkippedPath),
  folders: z.array(z.string()),
  /** True when a list above is shorter than its count. */
  truncated: z.optional(z.boolean()),
});
export type DumpFindResult = z.infer<typeof DumpFindResult>;
