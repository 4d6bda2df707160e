/** A second opinion on a dump: what a debugger makes of it, beside our own reading. */

import { HvError } from "../../base/errors.ts";
import { visibleLines, visibleText } from "../../base/visible_text.ts";
import type { DumpAnalysis } from "../../contract/dump_analyze.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import type { Host } from "../../host/host.ts";
import { parseSymbolPath, type SymbolPath } from "../symbols/symbol_path.ts";
import type { SymbolSearch } from "../symbols/symbol_search.ts";
import { triageDumpFile } from "../triage/triage_file.ts";
import { compareOpinions } from "./compare.ts";
import { type CommandText, cutAtMarkers, markerOf, scriptOf } from "./debugger_commands.ts";
import { layOut } from "./debugger_files.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { findDebugger } from "./find_debugger.ts";
import { type KeptRun, KeptRuns, keyOfRun } from "./kept_runs.ts";
import { debuggerOpinion, nativeOpinion } from "./opinions.ts";
import { type DebuggerRun, runDebugger, type RunLimits } from "./run_debugger.ts";

/** What to ask of which dump, and how long to wait for it. */
export interface AnalyzeOptions {
  readonly path: string;
  /** Commands instead of the usual ones. */
  readonly commands?: readonly string[] | undefined;
  /** Where both readings look for symbols. */
  readonly search?: SymbolSearch;
  /** Whether the debugger may ask the servers that the symbol path names. */
  readonly download: boolean;
  /** Runs the debugger although an earlier answer is kept. */
  readonly fresh: boolean;
  /** Shows the texts of the usual commands as well. */
  readonly full: boolean;
  readonly limits: Pick<RunLimits, "silenceMs" | "totalMs" | "memoryBytes">;
  /** Programs that the configuration names. */
  readonly programs: ReadonlyMap<string, string>;
  /** Where earlier runs are kept. */
  readonly kept: string;
  readonly signal: AbortSignal;
}

const OUTPUT_BYTES = 64 * 1024 * 1024;
const LONGEST_TEXT = 1024 * 1024;
const PARTIAL_TEXT = 16 * 1024;

const KERNEL_COMMANDS = [".bugcheck", ".exr -1", "r", "k", "lm", "!analyze -v"];
const USER_COMMANDS = [".exr -1", ".ecxr", "k", "lm", "!analyze -v"];

/**
 * Reads the dump itself, then has a debugger read it. What stops the debugger early is part of the answer; our own
 * reading is in it in any case. Fails as a triage does, as `findDebugger` does, and with the signal's reason.
 */
export async function analyzeDumpFile(host: Host, options: AnalyzeOptions): Promise<DumpAnalysis> {
  const { path, search = {}, signal } = options;
  const triage = await triageDumpFile(host.files, host.clock, { path, full: true, signal, ...search });
  refuseOtherSystems(triage);
  const program = await findDebugger(host, options.programs);
  const commands = options.commands ?? (triage.bugcheck === undefined ? USER_COMMANDS : KERNEL_COMMANDS);
  const fingerprint = await fingerprintOf(host.files, path);
  const key = await keyOfRun([
    fingerprint,
    program,
    search.symbols ?? "",
    String(options.download),
    ...commands,
  ]);
  const runs = new KeptRuns(host.files, options.kept);
  const earlier = options.fresh ? undefined : await runs.get(key);
  if (earlier !== undefined) return answer(options, triage, program, commands, earlier, { cached: true });
  const word = crypto.randomUUID().replaceAll("-", "");
  const run = await runOnce(host, options, program, commands, word);
  const kept: KeptRun = {
    run: word,
    text: run.text,
    dropped_bytes: run.droppedBytes,
    exit_code: run.exitCode,
  };
  const unchanged = await fingerprintOf(host.files, path) === fingerprint;
  const given = answer(options, triage, program, commands, kept, {
    cached: false,
    ...(run.stopped === undefined ? {} : { stopped: run.stopped }),
    unchanged,
  });
  if (given.complete && unchanged && run.droppedBytes === 0) await runs.put(key, kept);
  return given;
}

function refuseOtherSystems({ path, dump_kind }: DumpTriage): void {
  if (!/^(?:elf_core|kdump|console_text)/.test(dump_kind)) return;
  throw new HvError("hv.bad_dump", `The Windows debugger does not read "${path}", of the kind ${dump_kind}`, {
    hint: "`hvlab dump triage` reads it",
    context: { path, reason: "unsupported_kind", dump_kind },
  });
}

async function runOnce(
  host: Host,
  { path, search = {}, download, limits, signal }: AnalyzeOptions,
  program: string,
  commands: readonly string[],
  word: string,
): Promise<DebuggerRun> {
  const folder = await host.files.makeTemporaryFolder("hvlab-debugger-");
  try {
    const script = scriptOf(commands, word);
    const { args, logFile } = await layOut(
      host,
      folder,
      path,
      symbolPathOf(search),
      script,
      download,
    );
    return await runDebugger(
      host,
      { program, args, folder, logFile, run: word, endMark: markerOf(word, commands.length) },
      { ...limits, outputBytes: OUTPUT_BYTES },
      signal,
    );
  } finally {
    await host.files.remove(folder);
  }
}

/** The path with the cache of our own downloads, which the debugger can read as well. */
function symbolPathOf({ symbols = "", cache }: SymbolSearch): SymbolPath {
  const path = parseSymbolPath(symbols);
  return cache === undefined || path.servers.length === 0 ? path : { ...path, roots: [...path.roots, cache] };
}

function answer(
  { path, full, commands: asked }: AnalyzeOptions,
  triage: DumpTriage,
  program: string,
  commands: readonly string[],
  { run, text, dropped_bytes, exit_code }: KeptRun,
  { cached, stopped, unchanged = true }: {
    cached: boolean;
    stopped?: NonNullable<DumpAnalysis["stopped"]>;
    unchanged?: boolean;
  },
): DumpAnalysis {
  const cut = cutAtMarkers(text, commands, run);
  const complete = stopped === undefined && cut.commands.length === commands.length &&
    cut.commands.every((command) => command.complete);
  const reason = stopped ?? (complete ? undefined : "exit");
  const version = /Windows Debugger Version (\S+)/.exec(text)?.[1] ?? null;
  const shown = asked !== undefined || full ? cut.commands.map(showCommand) : undefined;
  const of = (command: string) => cut.commands.find((each) => each.command === command)?.text ?? "";
  const native = nativeOpinion(triage);
  const second = debuggerOpinion({ banner: cut.banner, of, whole: text });
  return {
    path,
    debugger: { program, version: version === null ? null : visibleText(version) },
    cached,
    complete,
    ...(reason === undefined ? {} : { stopped: reason }),
    exit_code,
    summary: triage.summary,
    ...(asked !== undefined ? {} : { native, second, disagreements: compareOpinions(native, second) }),
    ...(shown === undefined ? {} : { commands: shown }),
    ...(complete ? {} : { partial_text: visibleLines(text.slice(-PARTIAL_TEXT)) }),
    ...(dropped_bytes === 0 ? {} : { dropped_bytes }),
    warnings: warningsOf(text, second.bucket, asked === undefined, unchanged),
  };
}

function showCommand({ command, text, complete }: CommandText): CommandText {
  const cut = text.length > LONGEST_TEXT
    ? `${text.slice(0, LONGEST_TEXT)}\n[... ${text.length - LONGEST_TEXT} characters are missing here ...]`
    : text;
  return { command, text: visibleLines(cut), complete };
}

const REFUSED =
  /^(?:Could not open dump file .*|Debuggee initialization failed.*|Could not match Dump File.*)$/m;
const WITHOUT_SYMBOLS =
  /symbols could not be loaded for (\S+)|WRONG_SYMBOLS|Symbol loading may be unreliable without a symbol search path/;

function warningsOf(
  text: string,
  bucket: string | null,
  usual: boolean,
  unchanged: boolean,
): DumpAnalysis["warnings"] {
  const warnings: DumpAnalysis["warnings"] = [];
  const refused = REFUSED.exec(text)?.[0];
  if (refused !== undefined) {
    warnings.push({
      reason: "debugger_refused",
      message: `The debugger does not read the dump: ${visibleText(refused)}`,
    });
  }
  const symbols = WITHOUT_SYMBOLS.exec(text);
  if (symbols !== null) {
    warnings.push({
      reason: "debugger_symbols",
      message: `The debugger had no symbols: ${visibleText(symbols[0])}`,
    });
  }
  if (usual && refused === undefined && bucket === null) {
    warnings.push({
      reason: "no_analysis",
      message: "The debugger gave no !analyze: its extensions are missing, or it did not get that far",
    });
  }
  if (!unchanged) {
    warnings.push({ reason: "being_written", message: "The dump changed while the debugger read it" });
  }
  return warnings;
}
