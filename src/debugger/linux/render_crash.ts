/** What a Linux kernel said, as rows and lines of the page that a triage is shown as. */

import type { DumpTriage } from "../../contract/dump_triage.ts";

/** Rows of names and texts; none for other systems. */
export function crashRows({ crash, taint, build_id }: DumpTriage): (readonly [name: string, text: string])[] {
  if (crash === undefined) return [];
  const after = [
    crash.halted === true ? "the kernel stood still" : null,
    crash.rebooted === true ? "the machine started again" : null,
    crash.later_reports > 0 ? `reports that followed: ${crash.later_reports}` : null,
  ].filter((text) => text !== null);
  return [
    ["crash", crash.class],
    ["report", crash.headline ?? "none"],
    ...row("reason", crash.reason),
    ["panic", crash.panic ?? "none"],
    ...row("address", crash.fault_address),
    ["evidence", EVIDENCE[crash.evidence]],
    ...row("after", after.length === 0 ? null : after.join(", ")),
    ...(crash.boot_failures ?? []).map((line) => ["boot", line] as const),
    ["taint", taintText(taint)],
    ...row("build id", build_id),
  ];
}

const EVIDENCE = {
  core: "memory and registers of the core",
  log: "the log in the core: the task itself is gone",
  text: "text only, no core",
} as const;

function taintText(taint: DumpTriage["taint"]): string {
  if (taint === undefined || taint === null) return "not recorded";
  return taint.meaning.length === 0 ? "none" : `${taint.letters}: ${taint.meaning.join(", ")}`;
}

function row(name: string, text: string | null | undefined): (readonly [string, string])[] {
  return text === null || text === undefined ? [] : [[name, text]];
}

/** The last lines of the kernel's log before the crash. */
export function logLines({ log }: DumpTriage): string[] {
  return log === undefined || log.length === 0 ? [] : ["log", ...log.map((line) => `  ${line}`)];
}
