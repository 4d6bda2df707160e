/** Runs a debugger that may never end, print for ever, or take all memory, and keeps what it said. */

import { BoundedBytes } from "../../base/bounded_bytes.ts";
import type { Clock } from "../../base/clock.ts";
import type { StopReason } from "../../contract/dump_analyze.ts";
import type { Host } from "../../host/host.ts";
import type { PipedProcess } from "../../host/piped.ts";
import { type DebuggerText, readDebuggerText } from "./debugger_text.ts";
import { endStragglers, memoryOfGroup, RUN_VARIABLE } from "./process_group.ts";

/** How much a debugger may take. */
export interface RunLimits {
  /** Without a byte of output. */
  readonly silenceMs: number;
  readonly totalMs: number;
  /** Of it and of all that it started, together. */
  readonly memoryBytes: number;
  /** Printed in all, kept or not. */
  readonly outputBytes: number;
}

/** What to run, where its files are, and how to tell its processes from others. */
export interface DebuggerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The log that it writes. */
  readonly logFile: string;
  /** The line that it prints last. */
  readonly endMark: string;
  /** Words that nothing else knows: its processes carry them in their environment. */
  readonly run: string;
}

/** How it went. */
export interface DebuggerRun extends DebuggerText {
  /** Why it was ended; `undefined` when it went by itself. */
  readonly stopped: Exclude<StopReason, "exit"> | undefined;
  readonly exitCode: number | null;
}

type RunHost = Pick<Host, "os" | "clock" | "files" | "processes">;

const KEPT = { head: 2 * 1024 * 1024, tail: 2 * 1024 * 1024 };
const LOOK_EVERY_MS = 200;
const LOOK_AT_MEMORY_EVERY_MS = 1000;
/** How long after its end its pipes may stay open in somebody else's hands. */
const PIPES_MS = 250;

/**
 * Runs it to its end, or to a limit. In the end nothing of it runs any more: neither its process group nor, where
 * `ps` shows environments, what left the group. Fails with the signal's reason, and as `Processes.open` does.
 */
export async function runDebugger(
  host: RunHost,
  command: DebuggerCommand,
  limits: RunLimits,
  signal: AbortSignal,
): Promise<DebuggerRun> {
  signal.throwIfAborted();
  const [program, args] = await withLimits(host, command, limits);
  const child = await host.processes.open(program, args, {
    cwd: command.folder,
    env: { [RUN_VARIABLE]: command.run },
    ownGroup: host.os !== "windows",
  });
  const watched = new Watched(child, host.clock);
  try {
    await child.closeInput();
    const stopped = await watched.waitForEnd(host, limits, signal);
    await child.kill();
    const { code } = await child.ended;
    await watched.drain();
    return { ...await bestText(host, command, watched.kept), stopped, exitCode: code };
  } finally {
    await child.kill();
    await watched.drain();
    await endStragglers(host, command.run);
  }
}

/**
 * Linux ends it with us, with all that it started in its group: at our end the kernel wakes `timeout`, which takes
 * that for the end of the time that it was not given. The kernel also keeps each of its processes from taking more
 * memory than is allowed.
 */
async function withLimits(
  { os, processes }: RunHost,
  { program, args }: DebuggerCommand,
  { memoryBytes }: RunLimits,
): Promise<[program: string, args: readonly string[]]> {
  if (os !== "linux") return [program, args];
  const has = async (helper: string) => await processes.find(helper) !== undefined;
  const tied = !await has("setpriv")
    ? []
    : await has("timeout")
    ? ["setpriv", "--pdeathsig", "ALRM", "--", "timeout", "--signal=KILL", "0"]
    : ["setpriv", "--pdeathsig", "KILL", "--"];
  const bounded = await has("prlimit") ? ["prlimit", `--data=${memoryBytes}`, "--core=0", "--"] : [];
  const [first = program, ...rest] = [...tied, ...bounded, program, ...args];
  return [first, rest];
}

/** The log, in whose encoding nothing is lost; where it is missing or behind, what was printed. */
async function bestText(
  { files }: RunHost,
  { logFile, endMark }: DebuggerCommand,
  printed: BoundedBytes,
): Promise<DebuggerText> {
  const shown = readDebuggerText(printed.parts());
  if ((await files.stat(logFile))?.kind !== "file") return shown;
  using log = files.open(logFile);
  const head = log.read(0, KEPT.head);
  const tailStart = Math.max(head.length, log.size - KEPT.tail);
  const tail = log.read(tailStart, KEPT.tail);
  const logged = readDebuggerText({ head, tail, dropped: tailStart - head.length });
  // A debugger that was ended has not written its log to the end, and it never logs its last words.
  const whole = logged.text.includes(`\n${endMark}\n`);
  return whole || logged.text.length >= shown.text.length ? logged : shown;
}

/** A running debugger with what it has printed so far. */
class Watched {
  readonly kept = new BoundedBytes(KEPT);
  readonly #child: PipedProcess;
  readonly #clock: Clock;
  readonly #readers: ReadableStreamDefaultReader<Uint8Array>[];
  readonly #pumps: Promise<unknown>;
  #lastHeard: number;

  constructor(child: PipedProcess, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    this.#lastHeard = clock.monotonic();
    this.#readers = [child.stdout.getReader(), child.stderr.getReader()];
    this.#pumps = Promise.all(this.#readers.map((reader) => this.#pump(reader)));
  }

  async #pump(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        this.#lastHeard = this.#clock.monotonic();
        this.kept.push(value);
      }
    } catch {
      // Its pipes broke: what was read until then counts.
    }
  }

  async waitForEnd(host: RunHost, limits: RunLimits, signal: AbortSignal): Promise<DebuggerRun["stopped"]> {
    const done = new AbortController();
    const stop = AbortSignal.any([signal, done.signal]);
    try {
      return await Promise.race([
        this.#child.ended.then(() => undefined),
        this.#guard(host, limits, stop),
      ]);
    } finally {
      done.abort();
    }
  }

  async #guard(host: RunHost, limits: RunLimits, signal: AbortSignal): Promise<DebuggerRun["stopped"]> {
    const started = this.#clock.monotonic();
    let lookedAtMemory = started;
    for (;;) {
      await this.#clock.sleep(LOOK_EVERY_MS, signal);
      const now = this.#clock.monotonic();
      if (now - started >= limits.totalMs) return "time";
      if (now - this.#lastHeard >= limits.silenceMs) return "silence";
      if (this.kept.total >= limits.outputBytes) return "output";
      if (now - lookedAtMemory < LOOK_AT_MEMORY_EVERY_MS) continue;
      lookedAtMemory = now;
      if (await memoryOfGroup(host, this.#child.pid) >= limits.memoryBytes) return "memory";
    }
  }

  /** Reads what is left in the pipes, and lets go of them. */
  async drain(): Promise<void> {
    const waiting = new AbortController();
    await Promise.race([this.#pumps, this.#clock.sleep(PIPES_MS, waiting.signal).catch(() => {})]);
    waiting.abort();
    await Promise.all(this.#readers.map((reader) => reader.cancel().catch(() => {})));
  }
}
