/** What ran inside a guest, and what was copied in and out. */

import * as z from "zod/mini";
import { UnusedChannel } from "./guest_access.ts";

/** How a guest program ended, with its streams apart. A signal or a code over 255 stands here as it was. */
export const ExecResult = z.object({
  /** The program's own exit code; `null` when a signal ended it. */
  exit_code: z.nullable(z.int()),
  signal: z.optional(z.int()),
  stdout: z.string(),
  stderr: z.string(),
  /** Given instead of faithful text when the bytes are not UTF-8. */
  stdout_base64: z.optional(z.string()),
  stderr_base64: z.optional(z.string()),
  stdout_bytes: z.int(),
  stderr_bytes: z.int(),
  truncated: z.optional(z.boolean()),
  /** Bytes that are missing from the texts above. */
  dropped_bytes: z.optional(z.int()),
  duration_ms: z.int(),
  /** The way into the guest that was used. */
  channel: z.string(),
  channels_not_used: z.optional(z.array(UnusedChannel)),
  /** Files of this host that hold the whole of what the texts above hold only in part. */
  stdout_file: z.optional(z.string()),
  stderr_file: z.optional(z.string()),
  /** Why there is no such file although something is missing. */
  file_problem: z.optional(z.string()),
});
export type ExecResult = z.infer<typeof ExecResult>;

/** A finished copy; size and digest are of the bytes that arrived. A folder's digest is that of the stream it came in. */
export const CopyResult = z.object({
  source: z.string(),
  destination: z.string(),
  size_bytes: z.int(),
  sha256: z.string(),
  /** Of a folder: how many files there are. */
  files: z.optional(z.int()),
  /** What was left out of a folder, at most 100 of it. */
  skipped: z.optional(z.array(z.object({ path: z.string(), reason: z.string() }))),
  skipped_count: z.optional(z.int()),
  /** `disk` when the bytes did not come over the channel: the guest read them from a disk that was lent to it. */
  carried_by: z.optional(z.enum(["disk"])),
  channel: z.string(),
  channels_not_used: z.optional(z.array(UnusedChannel)),
});
export type CopyResult = z.infer<typeof CopyResult>;

/** What is stored of a guest's login. Never the password. */
export const GuestCredential = z.object({
  vm: z.string(),
  stored: z.boolean(),
  user: z.optional(z.string()),
  /** `libsecret` is the desktop's own store, `credential_manager` Windows', `file` a file that only this user may read. */
  stored_in: z.optional(z.enum(["libsecret", "file", "credential_manager"])),
  /** Whether there was one to forget. */
  forgotten: z.optional(z.boolean()),
});
export type GuestCredential = z.infer<typeof GuestCredential>;

/** A guest's clock after its machine stood still or was brought back. */
export const GuestClock = z.object({
  /** How far it was behind this host's clock, in milliseconds; negative when it was ahead. */
  skew_ms: z.int(),
  /** Whether it shows the host's time now. */
  set: z.boolean(),
});
export type GuestClock = z.infer<typeof GuestClock>;
