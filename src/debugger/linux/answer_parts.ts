/** Parts of the answer to a Linux crash that a core and a console text have in common. */

import { visibleText } from "../../base/visible_text.ts";
import type { DumpTriage, TriageCulprit } from "../../contract/dump_triage.ts";
import type { ConsoleFindings } from "../../dump/linux/console/parse.ts";
import { KERNEL_IMAGE } from "../../dump/linux/kernel/code_map.ts";
import type { LinuxBlame } from "../../dump/linux/triage/blame.ts";

/** Frames, words and log lines of a short answer. */
export const LISTED = { frames: 12, words: 6, warnings: 5, logLines: 6, fullLogLines: 60 } as const;

/** Classes in words; others are told by their first line. */
const TITLES: ReadonlyMap<string, string> = new Map([
  ["null-deref", "NULL pointer dereference"],
  ["page-fault", "Page fault"],
  ["gpf", "General protection fault"],
  ["stack-overflow", "Kernel stack overflow"],
  ["double-fault", "Double fault"],
  ["divide-error", "Divide error"],
  ["invalid-opcode", "Invalid opcode"],
  ["bug", "BUG"],
  ["serror", "SError interrupt"],
  ["warning", "WARNING"],
  ["kasan", "KASAN report"],
  ["soft-lockup", "Soft lockup"],
  ["hard-lockup", "Hard lockup"],
  ["rcu-stall", "RCU stall"],
  ["hung-task", "Hung task"],
  ["atomic-sleep", "Sleep in atomic context"],
  ["slab", "Slab corruption"],
  ["init-killed", "Init was killed"],
  ["no-root", "No root file system"],
  ["no-init", "No init program"],
  ["sysrq-crash", "Crash asked for by SysRq"],
  ["oom-panic", "Out of memory, panic"],
  ["oom-kill", "Out of memory, process killed"],
  ["nmi", "NMI, panic"],
  ["stack-smash", "Stack overwritten"],
  ["hang", "No report, and a processor is busy"],
  ["none", "No kernel report"],
  ["unknown", "Not told what happened: the kernel's log cannot be read"],
]);

/** Who ran, for the summary. */
export interface WhoRan {
  readonly comm: string | null;
  readonly pid: number | null;
  readonly cpu: number | null;
}

/** The answer in one sentence. */
export function linuxSummary(
  crash: NonNullable<DumpTriage["crash"]>,
  facts: Readonly<Record<string, string>>,
  culprit: TriageCulprit | null,
  who: WhoRan,
): string {
  const title = TITLES.get(crash.class) ?? crash.headline ?? crash.class;
  const details = [
    crash.fault_address === undefined ? null : `at ${crash.fault_address}`,
    facts["exit"] === undefined ? null : `with ${facts["exit"]}`,
    facts["device"] === undefined ? null : `on ${facts["device"]}`,
    facts["file"] === undefined ? null : `at ${facts["file"]}:${facts["line"]}`,
    facts["seconds"] === undefined ? null : `for ${facts["seconds"]} s`,
    whereText(culprit),
  ].filter((text) => text !== null);
  const task = who.comm === null ? "" : `, task ${who.comm}${who.pid === null ? "" : ` (${who.pid})`}`;
  const cpu = who.cpu === null ? "" : `${task === "" ? "," : ""} on CPU ${who.cpu}`;
  return visibleText(`${[title, ...details].join(" ")}${task}${cpu}`);
}

const CONFIDENCE = { high: "in", medium: "most likely through", low: "in" } as const;

function whereText(culprit: TriageCulprit | null): string | null {
  if (culprit === null) return null;
  const place = culprit.symbol === undefined ? "" : `!${culprit.symbol}`;
  return `${CONFIDENCE[culprit.confidence]} ${culprit.module}${place}`;
}

/** A frame by name, whichever way it was found. */
export interface NamedPlace {
  readonly module: string | null;
  readonly name: string | null;
  readonly offset: number;
  /** Whether a trace of the kernel has another name for it. */
  readonly misnamed: boolean;
}

/** `function+0x10`; without the offset at its beginning. */
export function symbolText({ name, offset }: Pick<NamedPlace, "name" | "offset">): string {
  return `${name ?? ""}${offset === 0 ? "" : `+0x${offset.toString(16)}`}`;
}

/** The image to blame. */
export function describeLinuxCulprit(
  blame: LinuxBlame | null,
  place: NamedPlace | undefined,
): TriageCulprit | null {
  if (blame === null || place === undefined) return null;
  return {
    module: place.module ?? KERNEL_IMAGE,
    ...(place.name === null ? {} : { symbol: visibleText(symbolText(place)) }),
    confidence: blame.confidence,
    rule: blame.rule,
    evidence: blame.evidence,
  };
}

/** What the report says, without the parts that only text has. */
export function describeCrash(
  findings: ConsoleFindings,
  kind: string,
  evidence: NonNullable<DumpTriage["crash"]>["evidence"],
): NonNullable<DumpTriage["crash"]> {
  const report = findings.main?.report ?? null;
  const address = report?.facts["address"];
  return {
    class: kind,
    headline: report === null ? null : visibleText(report.headline),
    reason: report?.reason ? visibleText(report.reason) : null,
    panic: findings.panic === null ? null : visibleText(findings.panic),
    ...(address === undefined ? {} : { fault_address: hexAddress(address) }),
    evidence,
    later_reports: findings.later,
  };
}

/** Kernels print addresses with and without `0x`. */
function hexAddress(text: string): string {
  const digits = text.replace(/^0x/, "");
  return /^[0-9a-f]+$/.test(digits) ? `0x${digits.replace(/^0+(?=.)/, "")}` : visibleText(text);
}

/** The last lines up to the one with which the report begins; the end of the log when there is no report. */
export function leadingLines(lines: readonly string[], findings: ConsoleFindings, full: boolean): string[] {
  const line = findings.main?.report.line ?? null;
  const end = line === null ? lines.length : line + 1;
  const count = full ? LISTED.fullLogLines : LISTED.logLines;
  return lines.slice(Math.max(0, end - count), full ? end + LISTED.fullLogLines : end)
    .map((each) => visibleText(each.trimEnd()));
}
