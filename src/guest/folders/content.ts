/** What is known of files and folders that are copied. */

import type { TarEntry } from "../../base/tar.ts";

/** What is not copied, and why. */
export interface SkippedEntry {
  path: string;
  reason: string;
}

/** What a folder of this host holds. */
export interface FolderContent {
  entries: TarEntry[];
  files: number;
  size_bytes: number;
  skipped: SkippedEntry[];
}

/** What a path of the guest names. Facts that the guest does not tell are left out. */
export interface GuestEntry {
  kind: "file" | "folder" | "other";
  /** Permission bits. */
  mode?: number;
  modified_ms?: number;
  size_bytes?: number;
}

/** What a guest says of the archive that it sent. */
export interface Packed {
  sha256: string;
  /** Files that changed while they were read, and the like. */
  warning?: string;
}
