/** The kernel's log out of a core. */

import type { Clock } from "../../base/clock.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { DumpLog } from "../../contract/dump_log.ts";
import { dmesgLines } from "../../dump/linux/kernel/log_record.ts";
import { badDump } from "../../dump/reasons.ts";
import type { DumpFiles } from "../inspect_file.ts";
import { inspectCore, openLinuxKernel } from "./open_kernel.ts";

/** Of which core, and how many lines from the end; all without a number. */
export interface LogOptions {
  readonly path: string;
  readonly tail?: number | undefined;
  readonly signal?: AbortSignal;
}

/** Reads the log. Fails as `inspectCore` and `openLinuxKernel` do, and with `hv.bad_dump` when it has no log. */
export async function readDumpLog(
  files: DumpFiles,
  clock: Clock,
  { path, tail, signal }: LogOptions,
): Promise<DumpLog> {
  const inspection = await inspectCore(files, clock, path, signal);
  using file = files.open(path);
  const kernel = await openLinuxKernel(file);
  const log = kernel.log();
  if (log === null) {
    const why = kernel.warnings.find(({ reason }) => reason !== "truncated") ?? kernel.warnings[0];
    throw badDump(
      "kernel_log",
      `Cannot read the kernel log of "${path}": ${why?.message ?? "it is not there"}`,
      {
        path,
      },
    );
  }
  const lines = log.records.flatMap(dmesgLines).map(visibleText);
  const shown = tail === undefined ? lines : lines.slice(-tail);
  return {
    path,
    dump_kind: kernel.core.kind,
    os_version: kernel.info.release,
    lines: shown,
    line_count: lines.length,
    lost_messages: log.lost,
    warnings: [...inspection.warnings, ...kernel.warnings],
    ...(shown.length < lines.length ? { truncated: true } : {}),
  };
}

/** The lines as `dmesg` prints them, with what is wrong behind them. */
export function renderDumpLog({ lines, line_count, lost_messages, warnings }: DumpLog): string {
  return [
    ...(lines.length < line_count
      ? [`... ${line_count - lines.length} lines before; --tail sets how many are shown`]
      : []),
    ...lines,
    ...(lost_messages > 0 ? [`${lost_messages} messages were overwritten or are not in the dump`] : []),
    ...warnings.map(({ reason, message }) => `warning  ${reason}: ${visibleText(message)}`),
  ].join("\n");
}
