/** Finds the dumps below some places and lists them newest first. What is not listed is counted with its reason. */

import type { Clock } from "../base/clock.ts";
import { HvError, toHvError } from "../base/errors.ts";
import { formatBytes } from "../base/units.ts";
import { visibleText } from "../base/visible_text.ts";
import type { DumpFindResult, DumpSkipReason, FoundDump, SkippedPath } from "../contract/dump_find.ts";
import type { DumpPlace } from "./dump_places.ts";
import { type DumpFiles, inspectDumpFile, type InspectedFile } from "./inspect_file.ts";
import { walkFolders } from "./walk_folders.ts";

/** What to find and how much of it to list. */
export interface FindDumpsOptions {
  places: readonly DumpPlace[];
  /** Dumps listed; `found` counts all. */
  limit?: number;
  /** Files looked at. */
  maximumFiles?: number;
  signal?: AbortSignal;
}

/** Dumps that are listed unless the caller says otherwise. */
export const DEFAULT_LIMIT = 100;
/** Skipped paths that are listed; `skipped` counts all. */
export const LISTED_SKIPS = 1000;
/** Files inspected at the same time: enough to overlap the waits between two looks at a file. */
const BATCH = 16;

/**
 * Looks at every file below the places. One read per file and, by kind, a few small ones more.
 * Fails with `hv.not_found` when a place that the user named is not there, and with the signal's reason.
 */
export async function findDumps(
  files: DumpFiles,
  clock: Clock,
  { places, limit = DEFAULT_LIMIT, maximumFiles, signal }: FindDumpsOptions,
): Promise<DumpFindResult> {
  const walk = await walkFolders(files, places, signal, maximumFiles);
  const found: FoundDump[] = [];
  const skipped: SkippedPath[] = [...walk.skipped];
  for (let start = 0; start < walk.files.length; start += BATCH) {
    signal?.throwIfAborted();
    const batch = walk.files.slice(start, start + BATCH).map(async (path) => {
      try {
        found.push(toFoundDump(path, await inspectDumpFile(files, clock, path, signal)));
      } catch (thrown) {
        signal?.throwIfAborted();
        const failure = toHvError(thrown);
        skipped.push({ path, reason: skipReasonOf(failure), message: failure.message });
      }
    });
    await Promise.all(batch);
  }
  found.sort(newestFirst);
  skipped.sort((a, b) => comparePaths(a.path, b.path));
  const truncated = found.length > limit || skipped.length > LISTED_SKIPS;
  return {
    dumps: found.slice(0, limit),
    found: found.length,
    skipped: skipped.length,
    skipped_by_reason: countReasons(skipped),
    skipped_paths: skipped.slice(0, LISTED_SKIPS),
    folders: walk.folders,
    ...(truncated ? { truncated } : {}),
  };
}

function toFoundDump(path: string, { inspection, facts }: InspectedFile): FoundDump {
  const header = inspection.time ?? null;
  const file = facts.modified === null ? null : new Date(facts.modified).toISOString();
  return {
    path,
    dump_kind: inspection.dump_kind,
    os_version: inspection.os_version,
    bugcheck_code: inspection.bugcheck_code ?? null,
    bugcheck_name: inspection.bugcheck_name ?? null,
    ...(inspection.exception_code === undefined || inspection.bugcheck_code !== undefined ? {} : {
      exception_code: inspection.exception_code,
      exception_name: inspection.exception_name ?? null,
    }),
    time: header ?? file,
    time_source: header !== null ? "header" : file !== null ? "file" : null,
    size_bytes: inspection.actual_size_bytes,
    ...(inspection.warnings.length === 0
      ? {}
      : { warnings: inspection.warnings.map(({ reason }) => reason) }),
  };
}

const SKIP_REASONS: ReadonlyMap<unknown, DumpSkipReason> = new Map<unknown, DumpSkipReason>([
  ["empty", "empty"],
  ["too_short", "too_short"],
  ["being_written", "being_written"],
  ["not_a_dump", "not_a_dump"],
  ["bad_signature", "not_a_dump"],
  ["byte_swapped", "not_a_dump"],
]);

function skipReasonOf(failure: HvError): DumpSkipReason {
  if (failure.code === "hv.permission") return "permission";
  if (failure.code !== "hv.bad_dump") return "io_error";
  return SKIP_REASONS.get(failure.context["reason"]) ?? "damaged";
}

/** Newest first; dumps without any time last; equal times by path, so that the order is always the same. */
function newestFirst(a: FoundDump, b: FoundDump): number {
  const difference = timeOf(b) - timeOf(a);
  return difference === 0 ? comparePaths(a.path, b.path) : difference;
}

function timeOf({ time }: FoundDump): number {
  return time === null ? Number.MIN_SAFE_INTEGER : Date.parse(time);
}

function comparePaths(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function countReasons(skipped: readonly SkippedPath[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

/** Throws `hv.usage` where an operating system has no usual places to look in. */
export function refuseNoPlace(os: string, places: readonly DumpPlace[]): void {
  if (places.length > 0) return;
  throw new HvError("hv.usage", `Cannot find dumps without a folder: no usual places are known on "${os}"`, {
    hint: "Name a folder: hvlab dump find FOLDER",
    context: { field: "folder", os },
  });
}

/** A sentence for a search that found none of its places; `undefined` when there was one, readable or not. */
export function noPlaceExists(places: readonly DumpPlace[], result: DumpFindResult): string | undefined {
  if (result.folders.length > 0 || result.found > 0 || result.skipped > 0) return undefined;
  const looked = places.map(({ path }) => `"${path}"`).join(", ");
  return `None of the usual places exists: ${looked}; name a folder to look elsewhere`;
}

/** Files that look like dumps, or might be, and cannot be used; the others are only counted. */
const SHOWN_REASONS: ReadonlySet<DumpSkipReason> = new Set([
  "damaged",
  "too_short",
  "being_written",
  "permission",
  "io_error",
]);

/** The result for a person: one line for each dump and for each file that cannot be read, then counts. */
export function dumpListText(result: DumpFindResult): string {
  const lines = result.dumps.map(dumpLine);
  const unread = result.skipped_paths.filter(({ reason }) => SHOWN_REASONS.has(reason));
  for (const { path, reason, message } of unread) {
    lines.push(visibleText(`${path}  not read (${reason}): ${message}`));
  }
  const count = result.found === 1 ? "1 dump" : `${result.found} dumps`;
  const shown = result.found > result.dumps.length
    ? `${count}, the newest ${result.dumps.length} shown`
    : count;
  const reasons = Object.entries(result.skipped_by_reason).map(([reason, number]) => `${number} ${reason}`);
  lines.push(reasons.length === 0 ? shown : `${shown}; passed over: ${reasons.join(", ")}`);
  return lines.join("\n");
}

function dumpLine(dump: FoundDump): string {
  const { path, dump_kind, bugcheck_code, bugcheck_name, exception_code, exception_name } = dump;
  const cause = [bugcheck_code ?? exception_code, bugcheck_name ?? exception_name];
  const parts = [dump.time ?? "no time", dump_kind, formatBytes(dump.size_bytes)];
  if (dump.os_version !== null) parts.push(dump.os_version);
  parts.push(...cause.filter((word) => typeof word === "string"), path);
  if (dump.warnings !== undefined) parts.push(`(${dump.warnings.join(", ")})`);
  return visibleText(parts.join("  "));
}
