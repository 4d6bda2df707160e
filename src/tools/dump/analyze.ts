import * as z from "zod/mini";
import { DumpAnalysis } from "../../contract/dump_analyze.ts";
import { Path } from "../../contract/path.ts";
import { analyzeDumpFile } from "../../debugger/analyze/analyze_file.ts";
import { checkReadingOnly, splitCommands } from "../../debugger/analyze/debugger_commands.ts";
import { renderAnalysis } from "../../debugger/analyze/render_analysis.ts";
import { defineTool } from "../define_tool.ts";
import { searchOf, SYMBOL_FIELDS, SYMBOL_HELP } from "./symbol_fields.ts";

const Seconds = z.int().check(z.minimum(1), z.maximum(24 * 3600));

/** Limits for a debugger that finds its symbols on this machine. */
const PROMPT = { limit_s: 300, silence_s: 120 };
/** It says nothing while it fetches symbols, which has been seen to take more than five minutes. */
const PATIENT = { limit_s: 900, silence_s: 600 };

/** Has the Windows debugger read a dump too, and shows where it and hvlab differ. */
export default defineTool({
  name: "dump_analyze",
  family: "dump",
  class: "M",
  summary: "Ask the Windows debugger (cdb) about a crash dump, beside our own reading",
  input: {
    path: Path,
    command: z.optional(z.string().check(z.minLength(1), z.maxLength(8192))),
    ...SYMBOL_FIELDS,
    fresh: z._default(z.boolean(), false),
    full: z._default(z.boolean(), false),
    limit_s: z.optional(Seconds),
    silence_s: z.optional(Seconds),
    memory_mb: z._default(z.int().check(z.minimum(64), z.maximum(1024 * 1024)), 4096),
  },
  positional: ["path"],
  unlisted: ["download_limit_mb", "fresh", "full", "limit_s", "silence_s", "memory_mb"],
  help: {
    command: "Debugger commands separated by semicolons; their text is the answer",
    ...SYMBOL_HELP,
    download: "Fetch what is missing from the servers of that path, and let the debugger do so too",
    fresh: "Run the debugger although the answer of an earlier run is kept",
    full: "Show the texts of the usual commands too",
    limit_s: "End the debugger after this time; by default 5 minutes, 15 with --download",
    silence_s: "End the debugger after this time without output; by default 2 minutes, 10 with --download",
    memory_mb: "End the debugger when it takes more memory (not on Windows)",
  },
  output: DumpAnalysis,
  async handle(args, context) {
    const { host, config, state, door, signal } = context;
    const usual = args.download ? PATIENT : PROMPT;
    const commands = args.command === undefined ? undefined : splitCommands(args.command);
    if (commands !== undefined && door !== "cli") checkReadingOnly(commands, config.policy.debugger_commands);
    return await analyzeDumpFile(host, {
      path: args.path,
      commands,
      search: searchOf(args, context),
      download: args.download,
      fresh: args.fresh,
      full: args.full,
      limits: {
        totalMs: (args.limit_s ?? usual.limit_s) * 1000,
        silenceMs: (args.silence_s ?? usual.silence_s) * 1000,
        memoryBytes: args.memory_mb * 1024 * 1024,
      },
      programs: config.programs,
      kept: state.analyses,
      signal,
    });
  },
  render: renderAnalysis,
});
