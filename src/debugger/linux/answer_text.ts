/** Puts the answer to a Linux console text together: the same shape as from a core, and it says that it is text. */

import { visibleText } from "../../base/visible_text.ts";
import type { DumpTriage, TriageFrame } from "../../contract/dump_triage.ts";
import { baseName } from "../../dump/linux/console/bucket.ts";
import { parseConsole } from "../../dump/linux/console/parse.ts";
import type { PrintedFrame } from "../../dump/linux/console/report.ts";
import { KERNEL_IMAGE } from "../../dump/linux/kernel/code_map.ts";
import { taintOfLetters } from "../../dump/linux/kernel/taint.ts";
import { blameLinux } from "../../dump/linux/triage/blame.ts";
import {
  describeCrash,
  describeLinuxCulprit,
  leadingLines,
  linuxSummary,
  LISTED,
  type NamedPlace,
} from "./answer_parts.ts";

/** What the file was, beside its text. */
export interface TextOptions {
  readonly path: string;
  readonly full: boolean;
  readonly warnings: DumpTriage["warnings"];
}

/** Answers from text alone. */
export function answerConsoleText(text: string, { path, full, warnings }: TextOptions): DumpTriage {
  const lines = text.split("\n");
  const findings = parseConsole(lines);
  const { main } = findings;
  const report = main?.report ?? null;
  const kind = report?.class ?? "none";
  const printed = withoutReporting(main?.stack ?? []);
  const { frames, places } = printedFrames(printed);
  const blame = blameLinux(kind, printed);
  const culprit = describeLinuxCulprit(blame, blame === null ? undefined : places[blame.frame]);
  const crash: NonNullable<DumpTriage["crash"]> = {
    ...describeCrash(findings, kind, "text"),
    boots: findings.boots,
    halted: findings.halted,
    rebooted: findings.rebooted,
    ...(findings.bootFailures.length === 0 ? {} : { boot_failures: findings.bootFailures.map(visibleText) }),
  };
  const who = { comm: report?.comm ?? null, pid: report?.pid ?? null, cpu: report?.cpu ?? null };
  const shown = full ? Infinity : LISTED.frames;
  const cut = main?.cut === true && frames.length === 0
    ? [{
      reason: "truncated",
      message: "The report has no stack: the text ends before it, or it was not printed",
    }]
    : [];
  return {
    path,
    summary: linuxSummary(crash, report?.facts ?? {}, culprit, who),
    bucket: main?.bucket ?? "none",
    dump_kind: "console_text",
    machine: report?.machine ?? "unknown",
    os_version: report?.release ?? findings.release,
    time: null,
    uptime_s: report?.time ?? null,
    exception: null,
    crash,
    taint: report?.taint === null || report === null ? null : describeLetters(report.taint),
    culprit,
    process: null,
    thread: who.pid === null
      ? null
      : { id: who.pid, ...(who.comm === null ? {} : { name: visibleText(who.comm) }) },
    processor: who.cpu === null ? null : { index: who.cpu, found_by: "text" },
    context: null,
    stack: frames.slice(0, shown),
    stack_end: frames.length === 0 ? "no_context" : "text",
    stack_frames: frames.length,
    modules: [],
    module_count: findings.modules.length,
    unloaded_count: 0,
    ...(full && findings.modules.length > 0 ? { module_names: findings.modules.map(visibleText) } : {}),
    log: leadingLines(lines, findings, full),
    missing_symbols: [],
    warnings: [...warnings, ...cut],
    ...(frames.length > shown ? { truncated: true } : {}),
  };
}

function describeLetters(letters: string): NonNullable<DumpTriage["taint"]> {
  const taint = taintOfLetters(letters);
  return { letters: taint.letters, meaning: [...taint.words] };
}

/**
 * What printed the stack, and panic() with what called it from above, is no part of the story: a core leaves it out
 * too.
 */
export function withoutReporting(stack: readonly PrintedFrame[]): readonly PrintedFrame[] {
  const panic = stack.findLastIndex(({ name }) => /^(?:__)?v?panic$/.test(baseName(name)));
  const start = Math.max(panic + 1, stack.findIndex(({ name }) => !/^(?:dump|show)_stack/.test(name)));
  return start < stack.length ? stack.slice(start) : stack;
}

/** Frames as they were printed, and their names. */
export function printedFrames(
  printed: readonly PrintedFrame[],
): { frames: TriageFrame[]; places: NamedPlace[] } {
  return {
    frames: printed.map(({ name, module, offset }) => ({
      address: null,
      module: module ?? KERNEL_IMAGE,
      symbol: visibleText(name),
      ...(offset === 0 ? {} : { displacement: `0x${offset.toString(16)}` }),
      how: "text",
    })),
    places: printed.map(({ name, module, offset, misnamed }) => ({
      name,
      module: module ?? KERNEL_IMAGE,
      offset,
      misnamed,
    })),
  };
}
