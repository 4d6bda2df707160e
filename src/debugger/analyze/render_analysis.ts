/** Two readings as a page, side by side. */

import type { DumpAnalysis, Opinion } from "../../contract/dump_analyze.ts";
import { frameText } from "./compare.ts";

const NOT_TOLD = "-";

const STOPPED: Readonly<Record<NonNullable<DumpAnalysis["stopped"]>, string>> = {
  silence: "it was silent for too long",
  time: "its time was over",
  memory: "it took too much memory",
  output: "it printed too much",
  exit: "it ended too early",
};

/** Renders an answer. Its texts were made safe to show when it was put together. */
export function renderAnalysis(analysis: DumpAnalysis): string {
  const parts = [
    [analysis.summary],
    debuggerLines(analysis),
    opinionLines(analysis),
    disagreementLines(analysis),
    ...(analysis.commands ?? []).map(({ command, text, complete }) => [
      `> ${command}${complete ? "" : "  (cut)"}`,
      ...(text === "" ? [] : [text.replace(/\n$/, "")]),
    ]),
    analysis.partial_text === undefined
      ? []
      : ["what the debugger said until then", analysis.partial_text.replace(/\n$/, "")],
    analysis.warnings.map(({ reason, message }) => `warning  ${reason}: ${message}`),
  ];
  return parts.filter((lines) => lines.length > 0).map((lines) => lines.join("\n")).join("\n\n");
}

function debuggerLines(
  { debugger: { program, version }, cached, stopped, dropped_bytes }: DumpAnalysis,
): string[] {
  return [
    `debugger     ${program}  ${version ?? "version not told"}${cached ? "  (from an earlier run)" : ""}`,
    ...(stopped === undefined ? [] : [`cut          ${STOPPED[stopped]}`]),
    ...(dropped_bytes === undefined ? [] : [`left out     ${dropped_bytes} bytes of its text`]),
  ];
}

function opinionLines({ native, second }: DumpAnalysis): string[] {
  if (native === undefined || second === undefined) return [];
  const rows = ROWS.map(([name, read]) =>
    [name, read(native) ?? NOT_TOLD, read(second) ?? NOT_TOLD] as const
  );
  const frames = Math.max(Math.min(native.stack.length, FRAMES), Math.min(second.stack.length, FRAMES));
  for (let index = 0; index < frames; index++) {
    const [ours, theirs] = [native.stack[index], second.stack[index]];
    rows.push([
      `stack ${index}`,
      ours === undefined ? "" : frameText(ours),
      theirs === undefined ? "" : frameText(theirs),
    ]);
  }
  const width = Math.max(6, ...rows.map(([, ours]) => ours.length));
  return [["", "hvlab", "debugger"] as const, ...rows].map(([name, ours, theirs]) =>
    `${name.padEnd(11)}  ${ours.padEnd(width)}  ${theirs}`.trimEnd()
  );
}

const FRAMES = 16;

const ROWS: readonly (readonly [name: string, read: (opinion: Opinion) => string | null])[] = [
  ["system", ({ os_version }) => os_version],
  [
    "bug check",
    ({ bugcheck }) => bugcheck === null ? null : [bugcheck.code, bugcheck.name].filter(Boolean).join(" "),
  ],
  [
    "arguments",
    ({ bugcheck }) =>
      bugcheck === null || bugcheck.arguments.length === 0 ? null : bugcheck.arguments.join(" "),
  ],
  [
    "exception",
    ({ exception }) =>
      exception === null ? null : [exception.code, exception.address].filter(Boolean).join(" at "),
  ],
  ["module", ({ module }) => module],
  ["symbol", ({ symbol }) => symbol],
  ["version", ({ version }) => version],
  ["process", ({ process }) => process],
  ["bucket", ({ bucket }) => bucket],
  ["modules", ({ module_count }) => module_count === null ? null : String(module_count)],
];

function disagreementLines({ disagreements }: DumpAnalysis): string[] {
  if (disagreements === undefined) return [];
  if (disagreements.length === 0) return ["The two agree in all that both tell"];
  return [
    "they disagree",
    ...disagreements.map(({ field, native, second }) => `  ${field}: hvlab ${native}, debugger ${second}`),
  ];
}
