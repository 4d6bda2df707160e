/** One tool call from the command line: session, dispatch, output, exit code. */

import { HvError, toHvError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { PermissionKind } from "../host/permissions.ts";
import type { RawTerminal } from "../host/raw_terminal.ts";
import { type OutputStream, ReaderGone } from "../host/terminal.ts";
import { Pipeline } from "../tools/call.ts";
import { classOfCall } from "../tools/class_of_call.ts";
import type { CallAnswer, CallSurroundings, Catalogue, Tool } from "../tools/tool.ts";
import { describeRunning } from "../tools/running.ts";
import { Session } from "../tools/session.ts";
import type { ParsedCall } from "./arguments.ts";
import {
  brokenOffCodeOf,
  exitCodeOf,
  type ExitRules,
  failureCodeOf,
  INTERRUPTED,
  READER_GONE,
} from "./exit_code.ts";
import type { GlobalOptions } from "./globals.ts";
import { type Interrupts, watchInterrupts } from "./interrupts.ts";
import { ProgramStream } from "./program_output.ts";
import { ProgressLine } from "./progress.ts";
import { renderObject } from "./render.ts";
import type { Screen } from "./screen.ts";
import { findStateFolder, findUnusedStateFolder, loadSettings, type Surroundings } from "./surroundings.ts";
import type { Host } from "../host/host.ts";

/** A call that has been read off the command line. */
export interface Execution {
  surroundings: Surroundings;
  host: Host;
  catalogue: Catalogue;
  options: GlobalOptions;
  screen: Screen;
  tool: Tool;
  call: ParsedCall;
}

/** What a tool uses that lies in the state folder. */
const USES_STATE: ReadonlySet<string> = new Set([
  "driver",
  "vm",
  "targets",
  "store",
  "history",
  "dispatcher",
]);

/** For terminals that say nothing of their width, or 0, as the one of script(1) does. */
const USUAL_COLUMNS = 80;

/** Runs the call to its end and answers the exit code. Failures are printed, never thrown. */
export async function execute(execution: Execution): Promise<number> {
  const { screen, tool, call, host } = execution;
  const rules: ExitRules = { runsProgram: tool.runsProgram, bisect: call.args.bisect === true };
  using interrupts = watchInterrupts(tool.instant ? undefined : host.terminal);
  const streams = tool.streams !== undefined && call.args[tool.streams] === true;
  const isDetached = tool.detaches !== undefined && call.args[tool.detaches] === true;
  const passesThrough = (tool.runsProgram && !isDetached || streams) && !screen.json;
  const output = new CallOutput(execution, interrupts, passesThrough);
  try {
    const ended = finish(execution, interrupts, output);
    const result = await Promise.race([ended, interrupts.again]);
    if (result === undefined) return brokenOffCodeOf(INTERRUPTED, rules);
    return isDetached ? 0 : exitCodeOf(result.tool, result.data, rules);
  } catch (thrown) {
    await output.end().catch(() => {});
    if (output.readerGone || thrown instanceof ReaderGone) return brokenOffCodeOf(READER_GONE, rules);
    const error = toHvError(thrown);
    // Whoever follows something ends that with Ctrl-C: there is no other end.
    if (streams && error.code === "hv.cancelled" && interrupts.signal.aborted) return 0;
    const { inCommandLineWords } = await import("./command_line_error.ts");
    const found = screen.json ? undefined : tool.renderFailure(error.context);
    if (found !== undefined) await screen.answer({}, () => found).catch(() => {});
    const writtenFor = { os: host.os, options: execution.options };
    await screen.fail(await inCommandLineWords(error, tool, call.args, execution.catalogue, writtenFor));
    return failureCodeOf(error, rules);
  }
}

async function finish(
  execution: Execution,
  interrupts: Interrupts,
  output: CallOutput,
): Promise<{ tool: Tool; data: JsonObject }> {
  const { screen } = execution;
  const answer = await dispatch(execution, interrupts.signal, output);
  await output.end();
  const { tool, result, warnings } = answer;
  for (const warning of warnings) await screen.warn(warning);
  if (output.passesThrough) {
    const isOld = await output.writeUnstreamed(result);
    if (isOld && result.truncated === true) {
      await screen.warn("The record of the earlier call holds only part of its output");
    }
  } else {
    const text = (): string => tool.render(result) ?? renderObject(result, tool.columns);
    await screen.answer(withWarnings(result, warnings), text);
  }
  return { tool, data: result };
}

async function dispatch(
  execution: Execution,
  signal: AbortSignal,
  output: CallOutput,
): Promise<CallAnswer & { kind: "done" }> {
  const { surroundings, options, screen, tool, call, catalogue } = execution;
  const settings = await loadSettings(surroundings, execution.host, options, catalogue);
  const find = tool.uses.some((use) => USES_STATE.has(use)) ? findStateFolder : findUnusedStateFolder;
  const state = await find(settings, options);
  const without = permissionsToDrop(tool, call.args);
  if (without.length > 0) settings.host.permissions.drop(without);
  await using session = new Session({
    ...settings,
    state,
    door: "cli",
    catalogue,
    ...(options.driver === undefined ? {} : { driverName: options.driver }),
    ...(surroundings.openDriver === undefined ? {} : { openDriver: surroundings.openDriver }),
    ...(surroundings.startKeeper === undefined ? {} : { startKeeper: surroundings.startKeeper }),
    ...(surroundings.startFollower === undefined ? {} : { startFollower: surroundings.startFollower }),
  });
  const pipeline = new Pipeline(session);
  const request = { ...call, tool: tool.name };
  const around = output.surroundings(signal);
  let answer: CallAnswer;
  try {
    answer = await pipeline.call(request, around);
  } catch (error) {
    if (!(error instanceof HvError) || error.code !== "hv.plan_required") throw error;
    const { askForName, canAsk } = await import("./confirm.ts");
    if (!canAsk(screen)) throw error;
    const { innerCall } = await import("./inner_call.ts");
    const inner = await innerCall(tool, call.args, catalogue);
    const plan = await pipeline.plan(inner.tool.name, inner.args, signal);
    const confirm = await askForName(screen, inner.tool, inner.args, plan, signal);
    answer = await pipeline.call({ ...request, confirm }, around);
  }
  if (answer.kind === "done") return answer;
  if (answer.detached !== undefined) {
    const result = { ...describeRunning(answer), next: `hvlab op wait ${answer.op}` };
    return { kind: "done", tool, result, warnings: [] };
  }
  const { waitForOperation } = await import("./wait_for_operation.ts");
  return await waitForOperation(pipeline, answer, call.timeout_s, around);
}

/** What a call does without. One that changes something needs more than its tool, which only reads, does as a rule. */
function permissionsToDrop(tool: Tool, args: ParsedCall["args"]): readonly PermissionKind[] {
  return classOfCall(tool, args) === tool.class ? tool.without : [];
}

/** The object that `--json` prints: the tool's data, with the warnings beside it when there are any. */
function withWarnings(result: JsonObject, warnings: readonly string[]): JsonObject {
  if (warnings.length === 0) return result;
  const own = Array.isArray(result.warnings) ? result.warnings : [];
  return { ...result, warnings: [...own, ...warnings] };
}

/** What appears while a call runs: the progress line, and a guest program's own output. */
class CallOutput {
  /** Whether the guest program's bytes go straight to our streams. */
  readonly passesThrough: boolean;
  /** Set when nobody reads our stdout any more. */
  readerGone = false;
  readonly #progress: ProgressLine | undefined;
  readonly #stdout: ProgramStream;
  readonly #stderr: ProgramStream;
  readonly #interrupts: Interrupts;
  readonly #takeTerminal: (() => RawTerminal) | undefined;

  constructor({ host, options, screen }: Execution, interrupts: Interrupts, passesThrough: boolean) {
    const { terminal, clock, environment } = host;
    this.passesThrough = passesThrough;
    this.#interrupts = interrupts;
    const hasPerson = terminal.stdinIsTerminal && terminal.stdout.isTerminal && !screen.json;
    this.#takeTerminal = hasPerson ? () => terminal.takeOver() : undefined;
    const wanted = options.progress && !screen.quiet && terminal.stderr.isTerminal;
    this.#progress = wanted && environment.get("NO_COLOR") === undefined
      ? new ProgressLine({
        clock,
        columns: () => terminal.columns() || USUAL_COLUMNS,
        write: (text) => terminal.stderr.write(new TextEncoder().encode(text)).catch(() => {}),
      })
      : undefined;
    const before = async (): Promise<void> => await this.#progress?.pause();
    this.#stdout = new ProgramStream(this.#guarded(terminal.stdout), before);
    this.#stderr = new ProgramStream(this.#guarded(terminal.stderr), before);
  }

  surroundings(signal: AbortSignal): CallSurroundings {
    const sinks = { stdout: this.#stdout.sink, stderr: this.#stderr.sink };
    return {
      signal,
      progress: (progress) => this.#progress?.report(progress),
      ...(this.passesThrough ? { sinks } : {}),
      ...(this.#takeTerminal === undefined ? {} : { terminal: this.#takeTerminal }),
    };
  }

  /** Takes the progress line away and writes what the streams held back. */
  async end(): Promise<void> {
    await this.#progress?.stop();
    if (this.readerGone) return;
    await this.#stdout.end();
    await this.#stderr.end();
  }

  /** An earlier call with the same key answers without streams: what its record holds is written now. Answers whether. */
  async writeUnstreamed(result: JsonObject): Promise<boolean> {
    let wrote = false;
    for (const [stream, name] of [[this.#stdout, "stdout"], [this.#stderr, "stderr"]] as const) {
      if (stream.bytes > 0) continue;
      const encoded = result[`${name}_base64`];
      const text = result[name];
      if (typeof encoded === "string") await stream.sink(Uint8Array.fromBase64(encoded));
      else if (typeof text === "string" && text !== "") await stream.sink(new TextEncoder().encode(text));
      await stream.end();
      wrote ||= stream.bytes > 0;
    }
    return wrote;
  }

  /** A stream whose end of interest ends the call. */
  #guarded(stream: OutputStream): OutputStream {
    return {
      isTerminal: stream.isTerminal,
      write: async (bytes) => {
        try {
          await stream.write(bytes);
        } catch (error) {
          if (!(error instanceof ReaderGone)) throw error;
          this.readerGone = true;
          const cancelled = new HvError("hv.cancelled", "The reader of the output has gone", {
            cause: error,
          });
          this.#interrupts.cancel(cancelled);
          throw cancelled;
        }
      },
    };
  }
}
