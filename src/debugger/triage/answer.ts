/** Puts the answer of a triage together. */

import type { DumpInspection } from "../../contract/dump.ts";
import type { DumpTriage, MissingSymbol } from "../../contract/dump_triage.ts";
import { visibleText } from "../../base/visible_text.ts";
import { type Blame, findBlame } from "../../dump/attribution/blame.ts";
import { hex, hexPointer } from "../../dump/numbers.ts";
import { machSignal } from "../../dump/minidump/signals.ts";
import type { DumpSession, UserSession } from "../../dump/session.ts";
import { namedRegisters } from "../../dump/windows/context.ts";
import type { Located } from "../symbols/located.ts";
import type { StoreWarning } from "../symbols/stores.ts";
import type { SymbolFiles } from "../symbols/symbol_files.ts";
import { bucketOf } from "./bucket.ts";
import { describeException } from "./exception.ts";
import { describeFrames, describeWords, type FrameWords } from "./frames.ts";
import { listModules } from "./modules.ts";
import { allFrames, type TriageStack } from "./stack.ts";
import type { ThreadStack } from "./thread_stacks.ts";
import { summaryOf } from "./summary.ts";
import { wantedModules } from "./wanted.ts";
import type { Wow64Stack } from "./wow64_stack.ts";

/** What a triage found out before it is put into words. */
export interface Findings {
  readonly inspection: DumpInspection;
  readonly session: DumpSession;
  readonly stack: TriageStack;
  /** The other threads of a process, when all is to be told. */
  readonly threads: readonly ThreadStack[];
  readonly locate: (address: bigint, exact: boolean) => Promise<Located>;
  readonly files: SymbolFiles;
  /** What symbol stores had to say. */
  readonly storeWarnings: () => readonly StoreWarning[];
  /** All frames, registers and modules instead of those that fit into a short answer. */
  readonly full: boolean;
}

const LISTED_FRAMES = 12;
const LISTED_WORDS = 8;
const LISTED_MODULES = 5;
const LISTED_MISSING = 6;
/** Warnings about damage repeat; the rest is in `dump inspect`. */
const LISTED_WARNINGS = 5;

/** The answer. */
export async function answerTriage(findings: Findings): Promise<DumpTriage> {
  const { inspection, session, stack, locate, full } = findings;
  const pointer = (value: bigint) => hexPointer(value, session.bits);
  const blame = findBlame(session, allFrames(stack), stack.scanned);
  const blamed = blame?.address === null || blame?.address === undefined
    ? null
    : await locate(blame.address, blame.rule !== "stack");
  const shown = full ? Infinity : LISTED_FRAMES;
  const naming = { bits: session.bits, locate, full };
  const frames = await describeFrames(naming, stack.frames);
  const wow64 = await describeWow64(naming, stack.wow64, shown);
  const threads = await Promise.all(findings.threads.map(async ({ id, name, frames, end, wow64 }) => ({
    id,
    ...(name === null ? {} : { name: visibleText(name) }),
    stack: await describeFrames(naming, frames),
    stack_end: end,
    ...await describeWow64(naming, wow64, shown),
  })));
  const words = await describeWords(naming, stack.scanned);
  const exception = session.exception === null ? null : await describeException(
    session.exception,
    session.bits,
    session.mode,
    session.mode === "user" ? nameInMinidump(session, inspection) : null,
  );
  const code = inspection.bugcheck_code ?? null;
  const bugcheck = session.mode === "user" || code === null ? null : {
    code,
    name: inspection.bugcheck_name ?? null,
    description: inspection.description ?? null,
    reference: inspection.reference ?? null,
    arguments: (inspection.arguments ?? []).map(({ value, meaning }) => ({ value: value ?? "", meaning })),
  };
  const modules = await listModules(session, stack, findings.files, blame, full ? null : LISTED_MODULES);
  const missing = await missingFiles(findings, blame);
  const context = stack.context === null ? null : {
    origin: stack.context.origin,
    registers: Object.fromEntries(
      namedRegisters(stack.context.registers)
        .filter(([name]) => full || POINTERS.has(name))
        .map(([name, value]) => [name, pointer(value)]),
    ),
  };
  const culprit = describeCulprit(session, blame, blamed);
  const warnings = mergeWarnings(findings);
  const truncated = frames.length > shown || (wow64.wow64?.stack_frames ?? 0) > shown ||
    words.length > LISTED_WORDS && !full ||
    modules.length < session.modules.all.length || missing.length > LISTED_MISSING && !full ||
    warnings.length > LISTED_WARNINGS && !full;
  return {
    path: inspection.path,
    summary: summaryOf(session, inspection, exception, blame, blamed),
    bucket: bucketOf(session, blame),
    dump_kind: session.kind,
    machine: session.machine,
    os_version: inspection.os_version,
    ...(session.mode === "kernel" ? { build_lab: session.buildLab } : {}),
    time: inspection.time ?? null,
    uptime_s: inspection.uptime_s ?? null,
    ...(session.mode === "kernel" ? { bugcheck } : {}),
    exception,
    culprit,
    ...whoRan(session),
    context,
    stack: frames.slice(0, shown),
    stack_end: stack.end,
    stack_frames: frames.length,
    ...wow64,
    ...(threads.length === 0 ? {} : { threads }),
    ...(words.length === 0 ? {} : { scanned: full ? words : words.slice(0, LISTED_WORDS) }),
    modules,
    module_count: session.modules.all.length,
    unloaded_count: session.unloaded.length,
    missing_symbols: full ? [...missing] : missing.slice(0, LISTED_MISSING),
    warnings: full ? warnings : warnings.slice(0, LISTED_WARNINGS),
    ...(truncated ? { truncated } : {}),
  };
}

const POINTERS: ReadonlySet<string> = new Set(["rip", "rsp", "eip", "esp", "ebp", "pc", "sp", "lr"]);

function nameInMinidump({ exception, system }: UserSession, inspection: DumpInspection): string | null {
  if (exception === null) return null;
  return inspection.exception_name ?? machSignal(system.platform, exception.code, exception.parameters);
}

async function describeWow64(
  naming: FrameWords,
  side: Wow64Stack | null,
  shown: number,
): Promise<Pick<DumpTriage, "wow64">> {
  if (side === null) return {};
  const frames = await describeFrames(naming, side.frames);
  return { wow64: { stack: frames.slice(0, shown), stack_end: side.end, stack_frames: frames.length } };
}

function describeCulprit(
  session: DumpSession,
  blame: Blame | null,
  located: Located | null,
): DumpTriage["culprit"] {
  if (blame === null) return null;
  const { module, unloaded, confidence, rule, evidence } = blame;
  const codeView = module === null ? null : session.codeViewOf(module);
  const offset = located?.offset ??
    (blame.address !== null && unloaded !== null ? blame.address - unloaded.start : null);
  return {
    module: module?.name ?? unloaded?.name ?? "",
    ...(offset === null ? {} : { offset: hex(offset) }),
    ...(located?.symbol ? { symbol: symbolText(located.symbol) } : {}),
    ...(module?.version ? { version: module.version.file } : {}),
    ...(codeView?.format === "RSDS"
      ? { pdb: `${codeView.name ?? "?"} ${codeView.id}${codeView.age.toString(16).toUpperCase()}` }
      : {}),
    confidence,
    rule,
    evidence: visibleText(evidence),
  };
}

function symbolText({ name, displacement }: { name: string; displacement: number }): string {
  return visibleText(displacement === 0 ? name : `${name}+${hex(displacement)}`);
}

function whoRan(session: DumpSession): Pick<DumpTriage, "process" | "thread" | "processor"> {
  if (session.mode === "user") {
    const id = session.exception?.threadId ?? session.threads[0]?.id ?? null;
    const name = session.threads.find((thread) => thread.id === id)?.name ?? null;
    return {
      process: { id: session.processId },
      thread: id === null ? null : { id, ...(name === null ? {} : { name: visibleText(name) }) },
    };
  }
  const { process, thread, crashed } = session;
  return {
    process: process === null ? null : { name: process.imageName, id: process.id },
    thread: thread === null
      ? null
      : { id: thread.threadId, address: hexPointer(thread.address, session.bits) },
    processor: crashed === null ? null : { index: crashed.processor.index, found_by: crashed.by },
  };
}

/** The files that would name the frames, and let the stack go on where it ends. */
async function missingFiles(
  { session, stack, files }: Findings,
  blame: Blame | null,
): Promise<MissingSymbol[]> {
  const wanted = wantedModules(session, stack, blame);
  const lists = await Promise.all(
    [...wanted].map(([module, unwinding]) => files.missing(module, unwinding)),
  );
  return lists.flat();
}

/** What the inspection, the session and the stores found wrong, each once. */
function mergeWarnings({ inspection, session, storeWarnings }: Findings): DumpTriage["warnings"] {
  const merged = new Map<string, DumpTriage["warnings"][number]>();
  for (const warning of [...inspection.warnings, ...session.warnings, ...storeWarnings()]) {
    merged.set(`${warning.reason} ${warning.message}`, { ...warning, message: visibleText(warning.message) });
  }
  return [...merged.values()];
}
