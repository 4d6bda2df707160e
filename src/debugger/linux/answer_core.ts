/** Puts the answer to a Linux core together. */

import { visibleText } from "../../base/visible_text.ts";
import type { DumpInspection } from "../../contract/dump.ts";
import type { DumpTriage, TriageFrame } from "../../contract/dump_triage.ts";
import { bucketByMeaning, bucketOfFrames, type NamedFrame } from "../../dump/linux/console/bucket.ts";
import { type ConsoleFindings, meaningFacts, parseConsole } from "../../dump/linux/console/parse.ts";
import { KERNEL_IMAGE, type LinuxPlace } from "../../dump/linux/kernel/code_map.ts";
import type { LinuxKernel } from "../../dump/linux/kernel/kernel.ts";
import { dmesgLines } from "../../dump/linux/kernel/log_record.ts";
import { type Taint, taintOfLetters } from "../../dump/linux/kernel/taint.ts";
import { blameLinux } from "../../dump/linux/triage/blame.ts";
import { type CrashStack, findCrashStack } from "../../dump/linux/triage/crash_stack.ts";
import { scanKernelStack } from "../../dump/linux/triage/stack_words.ts";
import { hex64 } from "../../dump/numbers.ts";
import { unixToIso } from "../../dump/time.ts";
import { namedRegisters } from "../../dump/windows/context.ts";
import {
  describeCrash,
  describeLinuxCulprit,
  leadingLines,
  linuxSummary,
  LISTED,
  type NamedPlace,
} from "./answer_parts.ts";
import { printedFrames, withoutReporting } from "./answer_text.ts";

/** The registers of a short answer: where the code and the stack were. */
const PLACES: ReadonlySet<string> = new Set(["rip", "rsp", "pc", "sp"]);

/** The stack of the answer, from the core or, when the task is gone, from its log. */
interface AnswerStack {
  readonly frames: readonly TriageFrame[];
  readonly places: readonly NamedPlace[];
  readonly end: string;
}

/** Answers from a core; `full` lists everything. */
export function answerLinuxCore(kernel: LinuxKernel, inspection: DumpInspection, full: boolean): DumpTriage {
  const log = kernel.log();
  const lines = log?.records.flatMap(dmesgLines) ?? [];
  const findings = parseConsole(lines);
  const crash = findCrashStack(kernel, findings);
  const report = findings.main?.report ?? null;
  const kind = kindOf(crash, findings, log !== null);
  const stack = crash !== null ? coreStack(kernel, crash, full) : logStack(findings);
  const named = stack.places.flatMap(namedFrame);
  const blame = blameLinux(
    kind,
    stack.places.map(({ name, module }) => ({ name, module: ownModule(module) })),
  );
  const culprit = describeLinuxCulprit(blame, blame === null ? undefined : stack.places[blame.frame]);
  const told = describeCrash(findings, kind, crash === null ? "log" : "core");
  const who = {
    comm: crash?.task?.comm ?? report?.comm ?? null,
    pid: crash?.task?.pid ?? report?.pid ?? null,
    cpu: crash?.cpu ?? report?.cpu ?? null,
  };
  const words = crash === null ? [] : wordsBehind(kernel, crash);
  const modules = modulesOf(kernel, stack.places, full);
  const warnings = mergeWarnings(inspection, kernel);
  const shown = full ? Infinity : LISTED.frames;
  const truncated = stack.frames.length > shown || modules.length < kernel.modules().length ||
    warnings.length > LISTED.warnings && !full;
  const last = log?.records.at(-1);
  const meaning = report === null ? null : bucketByMeaning(kind, meaningFacts(report));
  return {
    path: inspection.path,
    summary: linuxSummary(told, report?.facts ?? {}, culprit, who),
    bucket: meaning ?? bucketOfFrames(kind, named, report?.facts["message"] ?? report?.headline ?? ""),
    dump_kind: kernel.core.kind,
    machine: kernel.core.machine.name,
    os_version: kernel.info.release,
    build_id: kernel.info.buildId,
    time: unixToIso(kernel.info.crashTime ?? 0),
    uptime_s: last === undefined ? null : Number(last.time / 1_000_000n) / 1000,
    exception: null,
    crash: told,
    taint: describeTaint(report?.taint ?? null, kernel.taint()),
    culprit,
    process: crash?.task === null || crash === null ? null : { name: crash.task.comm, id: crash.task.tgid },
    thread: who.pid === null
      ? null
      : { id: who.pid, ...(who.comm === null ? {} : { name: visibleText(who.comm) }) },
    processor: who.cpu === null ? null : { index: who.cpu, found_by: crash === null ? "log" : crash.origin },
    context: crash?.registers === null || crash === null ? null : {
      origin: crash.origin,
      registers: Object.fromEntries(
        namedRegisters(crash.registers)
          .filter(([name]) => full || PLACES.has(name))
          .map(([name, value]) => [name, hex64(value)]),
      ),
    },
    stack: stack.frames.slice(0, shown),
    stack_end: stack.end,
    stack_frames: stack.frames.length,
    ...(words.length === 0 ? {} : { scanned: words }),
    modules,
    module_count: kernel.modules().length,
    unloaded_count: 0,
    log: leadingLines(lines, findings, full),
    missing_symbols: [],
    warnings: full ? warnings : warnings.slice(0, LISTED.warnings),
    ...(truncated ? { truncated } : {}),
  };
}

/** A machine whose log cannot be read and that did not panic may have said anything: that is no silence. */
function kindOf(crash: CrashStack | null, { main }: ConsoleFindings, readable: boolean): string {
  if (!readable && (crash === null || crash.kind === "hang" || crash.kind === "none")) return "unknown";
  return crash?.kind ?? main?.report.class ?? "none";
}

/** The taint at the crash as the report printed it; the kernel's own mask has what the crash added. */
function describeTaint(letters: string | null, mask: Taint | null): DumpTriage["taint"] {
  const taint = letters === null ? mask : taintOfLetters(letters);
  return taint === null ? null : { letters: taint.letters, meaning: [...taint.words] };
}

function coreStack({ architecture }: LinuxKernel, crash: CrashStack, full: boolean): AnswerStack {
  const { printsCalls } = architecture;
  return {
    frames: crash.frames.map((each) => ({
      ...frameOf(each.place, each.frame.address),
      ...(full ? { sp: hex64(each.frame.stackPointer) } : {}),
      how: each.frame.how,
    })),
    places: crash.frames.map(({ frame, place: { module, symbol } }) => ({
      module,
      name: symbol?.name ?? null,
      offset: symbol?.offset ?? 0,
      misnamed: !printsCalls && !frame.exact && symbol !== null && symbol.offset === symbol.size,
    })),
    end: crash.end,
  };
}

/** After an oops that the machine survived the stack is gone; the log printed it. */
function logStack({ main }: ConsoleFindings): AnswerStack {
  const printed = withoutReporting(main?.stack ?? []);
  return { ...printedFrames(printed), end: printed.length === 0 ? "no_context" : "text" };
}

function frameOf({ module, symbol, base }: LinuxPlace, address: bigint): Omit<TriageFrame, "how"> {
  return {
    address: hex64(address),
    module,
    ...(symbol === null
      ? module === null || base === null ? {} : { offset: `0x${(address - base).toString(16)}` }
      : {
        symbol: visibleText(symbol.name),
        ...(symbol.offset === 0 ? {} : { displacement: `0x${symbol.offset.toString(16)}` }),
      }),
  };
}

function namedFrame({ name, module, misnamed }: NamedPlace): NamedFrame[] {
  return name === null ? [] : [{ name, module: ownModule(module), misnamed }];
}

/** Null for the kernel itself, as rules and keys want it. */
function ownModule(module: string | null): string | null {
  return module === KERNEL_IMAGE ? null : module;
}

function wordsBehind(kernel: LinuxKernel, { frames, end }: CrashStack): TriageFrame[] {
  const last = frames.at(-1);
  if (end === "bottom" || end === "limit" || last === undefined) return [];
  return scanKernelStack(kernel, last.frame.stackPointer, LISTED.words)
    .map(({ address, place }) => ({ ...frameOf(place, address), how: "scan" }));
}

/** The modules of the stack, innermost first; with `full` all others as well. */
function modulesOf(kernel: LinuxKernel, places: readonly NamedPlace[], full: boolean): DumpTriage["modules"] {
  const onStack = new Set(places.map(({ module }) => module));
  const all = kernel.modules();
  const listed = full ? all : all.filter(({ name }) => onStack.has(name));
  return listed.map((module) => ({
    name: module.name,
    base: hex64(module.base),
    size_bytes: module.size,
    symbols: !onStack.has(module.name) ? "unread" : module.symbols() === null ? "none" : "kallsyms",
  }));
}

/** What the inspection and the kernel found wrong, each once. */
function mergeWarnings(inspection: DumpInspection, kernel: LinuxKernel): DumpTriage["warnings"] {
  const merged = new Map<string, DumpTriage["warnings"][number]>();
  for (const warning of [...inspection.warnings, ...kernel.warnings]) {
    merged.set(`${warning.reason} ${warning.message}`, { ...warning, message: visibleText(warning.message) });
  }
  const lost = kernel.log()?.lost ?? 0;
  if (lost > 0) {
    const message = `${lost} messages of the log were overwritten or are not in the dump`;
    merged.set(message, { reason: "kernel_log", message });
  }
  return [...merged.values()];
}
