/** Our reading and a debugger's, in the same fields. */

import type { Opinion, OpinionFrame } from "../../contract/dump_analyze.ts";
import type { DumpTriage, TriageFrame } from "../../contract/dump_triage.ts";
import { visibleText } from "../../base/visible_text.ts";
import { parseAnalysis } from "./parse_analysis.ts";
import { parseStack } from "./parse_stack.ts";

/** Our own reading. */
export function nativeOpinion(triage: DumpTriage): Opinion {
  const { bugcheck, exception, culprit } = triage;
  return {
    os_version: triage.os_version,
    bugcheck: bugcheck === undefined || bugcheck === null ? null : {
      code: bugcheck.code,
      name: bugcheck.name,
      arguments: bugcheck.arguments.map(({ value }) => value),
    },
    exception: exception === null || exception.synthetic === true
      ? null
      : { code: exception.code, address: exception.address },
    module: culprit?.module ?? null,
    symbol: culprit?.symbol ?? null,
    version: culprit?.version ?? null,
    process: triage.process?.name ?? null,
    bucket: triage.bucket,
    module_count: triage.module_count,
    stack: triage.stack.map((frame) => nativeFrame(frame)),
  };
}

function nativeFrame({ module, symbol, displacement, offset, address, source }: TriageFrame): OpinionFrame {
  if (module === null) return { module: null, offset: address ?? "0x0" };
  const unloaded = /^<unloaded (.*)>$/.exec(module)?.[1];
  return {
    module: unloaded !== undefined ? `<Unloaded_${unloaded}>` : debuggerName(module),
    ...(symbol === undefined ? {} : { symbol }),
    offset: symbol === undefined ? offset ?? "0x0" : displacement ?? "0x0",
    ...(source === undefined ? {} : { source }),
  };
}

const KERNEL = /^nt(?:oskrnl|krn\w*|\w*)\.exe$/i;

/** An image's file name as debuggers shorten it. */
export function debuggerName(file: string): string {
  if (KERNEL.test(file)) return "nt";
  return file.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9_]/g, "_");
}

/** The texts of a debugger's run: all of it, and the parts that are the answers to single commands. */
export interface DebuggerTexts {
  readonly banner: string;
  readonly of: (command: string) => string;
  readonly whole: string;
}

/** The debugger's reading; null where it says nothing. */
export function debuggerOpinion({ banner, of, whole }: DebuggerTexts): Opinion {
  const analysis = parseAnalysis(of("!analyze -v"));
  const field = (name: string): string | null => {
    const value = analysis.textOf(name)?.split("\n")[0]?.trim();
    return value === undefined || value === "" || UNKNOWN.test(value) ? null : visibleText(value);
  };
  const value = (key: string): string | null => {
    const told = analysis.valueOf(key);
    return told === undefined || told === "" ? null : visibleText(told);
  };
  const stack = parseStack(of("k"));
  const bugcheck = bugcheckOf(of(".bugcheck"), analysis);
  return {
    os_version: field("OS_VERSION") ?? versionOf(banner === "" ? whole : banner),
    bugcheck,
    exception: exceptionOf(
      `${of(".exr -1")}\n${analysis.textOf("EXCEPTION_RECORD") ?? ""}`,
      bugcheck !== null,
    ),
    module: field("IMAGE_NAME") ?? field("MODULE_NAME"),
    symbol: field("SYMBOL_NAME"),
    version: field("IMAGE_VERSION"),
    process: field("PROCESS_NAME"),
    bucket: field("FAILURE_BUCKET_ID") ?? value("Failure.Bucket") ?? field("BUCKET_ID") ??
      field("DEFAULT_BUCKET_ID"),
    module_count: countModules(of("lm")),
    stack: (stack.length > 0 ? stack : parseStack(analysis.textOf("STACK_TEXT") ?? "")).map(visibleFrame),
  };
}

const UNKNOWN = /^(?:unknown|unknown_module|unknown_image)$/i;

function visibleFrame(frame: OpinionFrame): OpinionFrame {
  const { module, symbol, source, offset } = frame;
  return {
    module: module === null ? null : visibleText(module),
    ...(symbol === undefined ? {} : { symbol: visibleText(symbol) }),
    offset,
    ...(source === undefined ? {} : { source: visibleText(source) }),
  };
}

function bugcheckOf(text: string, analysis: ReturnType<typeof parseAnalysis>): Opinion["bugcheck"] {
  const [, code] = /^Bugcheck code ([0-9A-Fa-f]{1,8})\b/m.exec(text) ?? [];
  const [, list] = /^Arguments ([0-9a-f` ]+)$/m.exec(text) ?? [];
  const legacy = analysis.textOf("BUGCHECK_CODE");
  const stop = code ?? analysis.bugcheck?.code ??
    (legacy !== undefined && /^[0-9a-f]+$/.test(legacy) ? legacy : undefined);
  if (stop === undefined || Number.parseInt(stop, 16) === 0) return null;
  const numbers = list === undefined
    ? analysis.arguments
    : list.trim().split(/\s+/).map((word) => word.replace("`", ""));
  return {
    code: hexadecimal(stop),
    name: analysis.bugcheck?.name ?? null,
    arguments: numbers.map(hexadecimal),
  };
}

/** In kernel dumps the recorded exception is the breakpoint of the bug check call itself, which is none. */
function exceptionOf(text: string, isKernel: boolean): Opinion["exception"] {
  const [, code] = /^\s*ExceptionCode: ([0-9a-f]{8})\b/m.exec(text) ?? [];
  const [, address] = /^\s*(?:ffffffff -- .*\n)?ExceptionAddress: ([0-9a-f`]{8,17})\b/m.exec(text) ?? [];
  if (code === undefined || (isKernel && code === "80000003")) return null;
  return {
    code: hexadecimal(code),
    address: address === undefined ? null : hexadecimal(address.replace("`", "")),
  };
}

function hexadecimal(digits: string): string {
  return `0x${digits.toLowerCase()}`;
}

const LOADED = /^[0-9a-f`]{8,17} [0-9a-f`]{8,17} +\S/;

function countModules(text: string): number | null {
  const lines = text.split(/\r?\n/);
  const end = lines.findIndex((line) => line.startsWith("Unloaded modules:"));
  const count = lines.slice(0, end < 0 ? undefined : end).filter((line) => LOADED.test(line)).length;
  return count === 0 ? null : count;
}

const FIRST_10 = 10_240;

function versionOf(banner: string): string | null {
  const build = Number(/^Windows \S+(?: Server)?(?: Kernel)? Version (\d+)/m.exec(banner)?.[1] ?? NaN);
  return build >= FIRST_10 ? `10.0.${build}` : null;
}
