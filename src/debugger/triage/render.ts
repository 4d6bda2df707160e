/** A triage as a page that a person reads from top to bottom. */

import type { DumpTriage, TriageFrame } from "../../contract/dump_triage.ts";
import { crashRows, logLines } from "../linux/render_crash.ts";

const NOT_RECORDED = "not recorded";

/** Renders an answer. Its texts were made safe to show when it was put together. Ends without a line break. */
export function renderTriage(triage: DumpTriage): string {
  const parts = [
    [triage.summary],
    culpritLines(triage),
    bugcheckLines(triage),
    table(crashRows(triage)),
    exceptionLines(triage),
    systemLines(triage),
    stackLines(triage),
    wow64Lines(triage.wow64, triage.stack_frames),
    wordLines(triage),
    ...(triage.threads ?? []).map(threadLines),
    moduleLines(triage),
    logLines(triage),
    missingLines(triage),
    triage.warnings.map(({ reason, message }) => `warning  ${reason}: ${message}`),
    triage.truncated === true ? ["Lists are cut; --full shows all"] : [],
  ];
  return parts.filter((lines) => lines.length > 0).map((lines) => lines.join("\n")).join("\n\n");
}

function culpritLines({ culprit, bucket }: DumpTriage): string[] {
  if (culprit === null) return table([["culprit", "none"], ["bucket", bucket]]);
  const { module, offset, symbol, version, pdb, confidence, rule, evidence } = culprit;
  return table([
    [
      "culprit",
      `${module}${offset === undefined ? "" : `+${offset}`}${symbol === undefined ? "" : `  ${symbol}`}`,
    ],
    ["confidence", `${confidence} (${rule}: ${evidence})`],
    ...optional("version", version),
    ...optional("symbols", pdb),
    ["bucket", bucket],
  ]);
}

function bugcheckLines({ bugcheck }: DumpTriage): string[] {
  if (bugcheck === undefined || bugcheck === null) return [];
  const { code, name, description, reference } = bugcheck;
  return table([
    ["bug check", `${code}  ${name ?? "not known"}`],
    ...optional("meaning", description),
    ...bugcheck.arguments.map(({ value, meaning }, index): Row => [
      `arg${index + 1}`,
      `${value === "" ? NOT_RECORDED : value}  ${meaning ?? "not documented"}`,
    ]),
    ...optional("reference", reference),
  ]);
}

function exceptionLines({ exception }: DumpTriage): string[] {
  if (exception === null) return [];
  const { code, name, address, access, access_address, detail, parameters, origin, synthetic } = exception;
  if (synthetic === true) return [];
  return table([
    ["exception", `${code}  ${name ?? "not known"}`],
    ["at", `${address} (${origin})`],
    ...(access === undefined ? [] : [["access", `${access} of ${access_address}`] as const]),
    ...optional("meaning", detail),
    ...(access !== undefined || parameters.length === 0
      ? []
      : [["parameters", parameters.join(", ")] as const]),
  ]);
}

function systemLines(triage: DumpTriage): string[] {
  const { process, thread, processor, context } = triage;
  const named = [
    process?.name ?? null,
    process?.id === null || process === null ? null : `pid ${process.id}`,
  ];
  return table([
    [
      "system",
      [triage.os_version ?? NOT_RECORDED, triage.machine, triage.build_lab].filter(Boolean).join("  "),
    ],
    ["dump", triage.dump_kind],
    ["time", triage.time ?? NOT_RECORDED],
    ...optional("uptime", triage.uptime_s === null ? null : `${triage.uptime_s} s`),
    ["process", named.filter((text) => text !== null).join(", ") || NOT_RECORDED],
    [
      "thread",
      thread === null
        ? NOT_RECORDED
        : [thread.id, thread.name, thread.address].filter((text) => text !== null && text !== undefined).join(
          "  ",
        ),
    ],
    ...(processor ? [["processor", `${processor.index} (${processor.found_by})`] as const] : []),
    [
      "context",
      context === null
        ? NOT_RECORDED
        : `${context.origin}: ${
          Object.entries(context.registers).map(([name, value]) => `${name}=${value}`).join(" ")
        }`,
    ],
  ]);
}

/** Frames are counted on from `first`: a 32-bit stack goes on where the 64-bit one ends. */
function stackLines(stack: ShownStack, title = "stack", first = 0): string[] {
  const left = stack.stack_frames - stack.stack.length;
  return [
    `${title} (${stack.stack_frames} frames, ${END_TEXTS.get(stack.stack_end) ?? stack.stack_end})`,
    ...frameLines(stack.stack, first),
    ...(left > 0 ? [`  ... ${left} more`] : []),
  ];
}

type ShownStack = Pick<DumpTriage, "stack" | "stack_end" | "stack_frames">;
type TriageThread = NonNullable<DumpTriage["threads"]>[number];

function threadLines({ id, name, stack, stack_end, wow64 }: TriageThread): string[] {
  return [
    `thread ${id}${name === undefined ? "" : ` "${name}"`} (${END_TEXTS.get(stack_end) ?? stack_end})`,
    ...frameLines(stack),
    ...wow64Lines(wow64, stack.length),
  ];
}

function wow64Lines(wow64: DumpTriage["wow64"], above: number): string[] {
  if (wow64 === undefined) return [];
  if (wow64.stack.length > 0) return stackLines(wow64, "32-bit stack", above);
  return [`32-bit stack not readable (${UNREADABLE_TEXTS.get(wow64.stack_end) ?? wow64.stack_end})`];
}

const UNREADABLE_TEXTS: ReadonlyMap<string, string> = new Map([
  ["no_memory", "its registers are not in the dump"],
  ["no_context", "there are no registers in their place"],
]);

const END_TEXTS: ReadonlyMap<string, string> = new Map([
  ["bottom", "complete"],
  ["no_unwind_data", "cut: no unwind data here; give --symbols"],
  ["no_memory", "cut: the rest of the stack is not in the dump"],
  ["no_module", "cut: the next address is in no image"],
  ["no_context", "no registers in the dump"],
  ["limit", "cut: too many frames"],
  ["text", "as the kernel printed it"],
]);

function wordLines({ scanned }: DumpTriage): string[] {
  return scanned === undefined
    ? []
    : ["words on the stack that may be return addresses, or not", ...frameLines(scanned)];
}

function frameLines(frames: readonly TriageFrame[], first = 0): string[] {
  return frames.map(({ address, how, sp, source, ...place }, index) => {
    const stack = sp === undefined ? "" : `${sp}  `;
    const where = address === null ? "" : `${address}  `;
    return `  ${String(first + index).padStart(2)}  ${stack}${where}${how.padEnd(13)}  ${placeText(place)}${
      source === undefined ? "" : `  [${source}]`
    }`;
  });
}

function placeText(
  { module, offset, symbol, displacement }: Pick<
    TriageFrame,
    "module" | "offset" | "symbol" | "displacement"
  >,
): string {
  if (module === null) return "in no image";
  if (symbol === undefined) return `${module}+${offset}`;
  return `${module}!${symbol}${displacement === undefined ? "" : `+${displacement}`}`;
}

function moduleLines({ modules, module_count, unloaded_count }: DumpTriage): string[] {
  const rows = modules.map(({ name, base, version, timestamp, symbols }) =>
    `  ${base}  ${name}  ${
      [version, timestamp, `symbols: ${symbols}`].filter((text) => text !== undefined).join("  ")
    }`
  );
  return [`modules (${modules.length} of ${module_count}, ${unloaded_count} unloaded)`, ...rows];
}

function missingLines({ missing_symbols }: DumpTriage): string[] {
  if (missing_symbols.length === 0) return [];
  return ["missing symbols", ...missing_symbols.map(({ url_path }) => `  ${url_path}`)];
}

type Row = readonly [name: string, text: string];

function optional(name: string, text: string | null | undefined): Row[] {
  return text === null || text === undefined ? [] : [[name, text]];
}

function table(rows: readonly Row[]): string[] {
  return rows.map(([name, text]) => `${name.padEnd(11)}  ${text}`);
}
