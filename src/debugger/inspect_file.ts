/** Inspects a dump file that may be changing, locked or no file at all. */

import type { Clock } from "../base/clock.ts";
import { HvError, toHvError } from "../base/errors.ts";
import type { DumpInspection } from "../contract/dump.ts";
import { inspectDump } from "../dump/inspect.ts";
import { badDump } from "../dump/reasons.ts";
import type { FileFacts, Files } from "../host/files.ts";
import { quoteWord } from "../host/quote_word.ts";

/** What finding and inspecting dumps need of the host. */
export type DumpFiles = Pick<Files, "stat" | "list" | "realPath" | "open">;

/** An inspection together with what the file system says. */
export interface InspectedFile {
  inspection: DumpInspection;
  facts: FileFacts;
}

/** How long a file that is being written is left alone before the only other try. */
export const RETRY_AFTER_MS = 250;

/**
 * Inspects the dump at `path`, links followed. A file that is locked, unfinished or changes while it is read is
 * tried once more after {@link RETRY_AFTER_MS}.
 *
 * Fails with `hv.not_found`, `hv.permission`, `hv.io` (reason `io_error`), and `hv.bad_dump` as `inspectDump` says,
 * `being_written` after the second try, `not_a_dump` for folders and devices. `context.path` names the file.
 */
export async function inspectDumpFile(
  files: DumpFiles,
  clock: Clock,
  path: string,
  signal?: AbortSignal,
): Promise<InspectedFile> {
  try {
    return await inspectOnce(files, path);
  } catch (thrown) {
    const first = asDumpFailure(thrown, path);
    if (first.context["reason"] !== "being_written") throw first;
  }
  await clock.sleep(RETRY_AFTER_MS, signal);
  try {
    return await inspectOnce(files, path);
  } catch (thrown) {
    throw asDumpFailure(thrown, path);
  }
}

async function inspectOnce(files: DumpFiles, path: string): Promise<InspectedFile> {
  const before = await files.stat(path, { follow: true });
  if (before === undefined) {
    throw new HvError("hv.not_found", `Cannot read the dump "${path}": it does not exist`, {
      hint: "Check the path, or list dumps with: hvlab dump find",
    });
  }
  if (before.kind !== "file") throw notAFile(path, before.kind);
  const inspection = await readOnce(files, path, before);
  const after = await files.stat(path, { follow: true });
  if (after?.size_bytes !== before.size_bytes || after.modified !== before.modified) {
    throw badDump(
      "being_written",
      `Cannot read the dump "${path}": it changed while it was read`,
      { expected: before.size_bytes, found: after?.size_bytes ?? 0 },
      "Wait until its writer has finished",
    );
  }
  return { inspection, facts: before };
}

async function readOnce(files: DumpFiles, path: string, facts: FileFacts): Promise<DumpInspection> {
  using file = files.open(path);
  return await inspectDump(file, { path, allocatedBytes: facts.allocated_bytes });
}

function notAFile(path: string, kind: string): HvError {
  const what = kind === "folder" ? "a folder" : "no regular file";
  return badDump(
    "not_a_dump",
    `Cannot read the dump: the path is ${what}`,
    { what },
    kind === "folder"
      ? `List the dumps in it with: hvlab dump find ${quoteWord(path)}`
      : "Give a regular file",
  );
}

/** Windows answers 32 or 33 to whoever opens a file that another program keeps to itself. */
const SHARING_VIOLATION = /\(os error 3[23]\)/;

function asDumpFailure(thrown: unknown, path: string): HvError {
  const failure = toHvError(thrown);
  if (failure.code === "hv.io" && SHARING_VIOLATION.test(failure.message)) {
    return badDump(
      "being_written",
      `Cannot read the dump "${path}": another program keeps it open`,
      { path },
      "Wait until its writer has finished",
    );
  }
  return failure.withContext(failure.code === "hv.io" ? { path, reason: "io_error" } : { path });
}
