/** The first line of a report: its class, and the facts that it names. */

import type { ConsoleReport } from "./report.ts";
import { HEAD_RULES, PANIC_RULES } from "./rules.ts";

/** What a first line tells. */
export type ReportHead = Pick<ConsoleReport, "class" | "rank" | "headline" | "isPanic" | "facts">;

/** Reads a line as the first one of a report; null when it is none. */
export function headOf(text: string): ReportHead | null {
  for (const { class: kind, rank, pattern } of HEAD_RULES) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const facts = factsOf(match);
    const isPanic = kind === "panic";
    const meaning = isPanic ? meaningOf(facts["message"] ?? "") : null;
    return {
      class: meaning?.class ?? kind,
      rank,
      headline: text.trim(),
      isPanic,
      facts: { ...facts, ...meaning?.facts },
    };
  }
  return null;
}

function meaningOf(message: string): { class: string; facts: Record<string, string> } | null {
  for (const { class: kind, pattern } of PANIC_RULES) {
    const match = pattern.exec(message);
    if (match === null) continue;
    const facts = factsOf(match);
    const code = facts["code"];
    return { class: kind, facts: code === undefined ? facts : { ...facts, exit: exitOf(Number(code)) } };
  }
  return null;
}

/** How a process ended, from the code that the kernel keeps. */
function exitOf(code: number): string {
  return (code & 127) !== 0 ? `signal ${code & 127}` : `status ${(code >> 8) & 255}`;
}

function factsOf(match: RegExpExecArray): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const [name, value] of Object.entries(match.groups ?? {})) {
    if (value !== undefined && value !== "") facts[name] = value;
  }
  return facts;
}

/** What the first line already says about the place; the line with `CPU:` says it better. */
export function whoOf(facts: Readonly<Record<string, string>>): Pick<ConsoleReport, "cpu" | "pid" | "comm"> {
  const [cpu, pid] = [facts["cpu"], facts["pid"]];
  return {
    cpu: cpu === undefined ? null : Number(cpu),
    pid: pid === undefined ? null : Number(pid),
    comm: facts["comm"] ?? null,
  };
}
