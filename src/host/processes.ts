/** Programs: run to the end, started for longer, looked up and ended. Arguments are vectors, never command text. */

import { HvError } from "../base/errors.ts";
import { joinPath, nameOf } from "../base/paths.ts";
import type { OperatingSystem } from "./operating_system.ts";
import { programFailure } from "./failures.ts";
import type { PipedProcess, PipeOptions } from "./piped.ts";
import { type ProcessFacts, programIn, readProcessTable, type RunPs } from "./process_table.ts";
import type { ChildProcess, SpawnOptions } from "./spawn.ts";
import { denoTerminal } from "./terminal.ts";

/** How a program ended and what it printed. */
export interface Finished {
  /** The exit code; 128 plus the signal number when a signal ended it. */
  code: number;
  signal: string | null;
  stdout: Uint8Array;
  stderr: Uint8Array;
}

export interface RunOptions {
  stdin?: Uint8Array;
  cwd?: string;
  env?: Record<string, string>;
  /** Ends the program (SIGTERM) when it aborts; the call then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** How a program ended. */
export interface Ended {
  code: number | null;
  signal: string | null;
}

/** How a program ended that had our terminal, and the end of what it said on stderr. */
export interface Attached extends Ended {
  stderr: string;
}

export interface AttachOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Ends the program when it aborts; the call then rejects with the signal's reason. */
  signal: AbortSignal;
}

export interface Processes {
  /** Runs a program to its end. A non-zero exit code is an answer, not an error. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Starts a program in a process group of its own, to live on its own or to be watched. */
  start(program: string, args: readonly string[], options: SpawnOptions): Promise<ChildProcess>;
  /** Starts a program with its three streams piped to us. Throws `hv.unavailable` when it cannot be started. */
  open(program: string, args: readonly string[], options?: PipeOptions): Promise<PipedProcess>;
  /**
   * Runs a program to its end on our own standard input and output, as a person's terminal wants it. What it says on stderr
   * goes on to ours at once, and the end of it is answered. Throws `hv.unavailable` when it cannot be started.
   */
  attach(program: string, args: readonly string[], options: AttachOptions): Promise<Attached>;
  /** Where a program stands on PATH or under the configured name; `undefined` when it is not there. */
  find(program: string): Promise<string | undefined>;
  /** The facts of one process; `undefined` when there is none. A zombie counts as gone. Not on Windows, which has no `ps`. */
  describe(pid: number): Promise<ProcessFacts | undefined>;
  /** Whether a process has this number, whichever it is. */
  isRunning(pid: number): Promise<boolean>;
  /** All processes of this machine whose program has the given name. */
  list(programName: string): Promise<ProcessFacts[]>;
  /** Sends a signal; answers false when there is no such process. */
  kill(pid: number, signal: "TERM" | "KILL"): Promise<boolean>;
}

const WORDS_KEPT_BYTES = 4096;

export class DenoProcesses implements Processes {
  readonly #os: OperatingSystem;
  readonly #path: () => string | undefined;
  /** Programs that the configuration names: usual name to full path. */
  readonly #named: ReadonlyMap<string, string>;

  constructor(
    os: OperatingSystem,
    path: () => string | undefined,
    named: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#os = os;
    this.#path = path;
    this.#named = named;
  }

  async run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const { stdin, cwd, env, signal } = options;
    signal?.throwIfAborted();
    try {
      await using child = new Deno.Command(this.#resolve(program), {
        args: [...args],
        stdin: stdin === undefined ? "null" : "piped",
        stdout: "piped",
        stderr: "piped",
        ...(cwd === undefined ? {} : { cwd }),
        ...(env === undefined ? {} : { env }),
        ...(signal === undefined ? {} : { signal }),
      }).spawn();
      const fed = stdin === undefined ? Promise.resolve() : feed(child.stdin, stdin);
      const [output] = await Promise.all([child.output(), fed]);
      signal?.throwIfAborted();
      return { code: output.code, signal: output.signal, stdout: output.stdout, stderr: output.stderr };
    } catch (error) {
      signal?.throwIfAborted();
      throw programFailure(error, program);
    }
  }

  async start(program: string, args: readonly string[], options: SpawnOptions): Promise<ChildProcess> {
    const { spawnLasting } = await import("./spawn.ts");
    return await spawnLasting(this.#resolve(program), args, options);
  }

  async open(program: string, args: readonly string[], options: PipeOptions = {}): Promise<PipedProcess> {
    const { openPiped } = await import("./piped.ts");
    return openPiped(this.#os, this.#resolve(program), args, options);
  }

  async attach(program: string, args: readonly string[], options: AttachOptions): Promise<Attached> {
    const { signal } = options;
    signal.throwIfAborted();
    try {
      const child = new Deno.Command(this.#resolve(program), {
        ...options,
        args: [...args],
        stdin: "inherit",
        stdout: "inherit",
        stderr: "piped",
      }).spawn();
      const [status, stderr] = await Promise.all([child.status, passOn(child.stderr)]);
      signal.throwIfAborted();
      return { code: status.code, signal: status.signal, stderr };
    } catch (error) {
      signal.throwIfAborted();
      throw programFailure(error, program);
    }
  }

  async find(program: string): Promise<string | undefined> {
    const named = this.#named.get(program);
    if (named !== undefined) return (await isFile(named)) ? named : undefined;
    const suffixes = this.#os === "windows" && !program.includes(".") ? [".exe", ".cmd"] : [""];
    for (const folder of (this.#path() ?? "").split(this.#os === "windows" ? ";" : ":")) {
      if (folder === "") continue;
      for (const suffix of suffixes) {
        const path = joinPath(folder, program + suffix);
        if (await isFile(path)) return path;
      }
    }
    return undefined;
  }

  async describe(pid: number): Promise<ProcessFacts | undefined> {
    if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
    return (await readProcessTable(this.#ps, ["-p", String(pid)])).find((facts) => facts.pid === pid);
  }

  async isRunning(pid: number): Promise<boolean> {
    if (this.#os !== "windows") return await this.describe(pid) !== undefined;
    const { isInTaskList } = await import("./task_list.ts");
    return await isInTaskList((args) => this.run("tasklist.exe", args), pid);
  }

  async list(programName: string): Promise<ProcessFacts[]> {
    const all = await readProcessTable(this.#ps, ["-e"]);
    return all.filter((facts) => nameOf(programIn(facts.args)) === programName);
  }

  async kill(pid: number, signal: "TERM" | "KILL"): Promise<boolean> {
    if (!Number.isSafeInteger(pid) || pid <= 1) {
      throw new HvError("hv.internal", `Refused to signal the process "${pid}"`);
    }
    const finished = this.#os === "windows"
      ? await this.run("taskkill.exe", ["/PID", String(pid), ...(signal === "KILL" ? ["/F"] : [])])
      : await this.run("kill", [`-${signal}`, String(pid)]);
    return finished.code === 0;
  }

  readonly #ps: RunPs = (args, env) => this.run("ps", args, { env });

  #resolve(program: string): string {
    return this.#named.get(program) ?? program;
  }
}

/** Passes a stream on to our stderr; answers its end as text. */
async function passOn(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { BoundedBytes } = await import("../base/bounded_bytes.ts");
  const kept = new BoundedBytes({ head: 0, tail: WORDS_KEPT_BYTES });
  for await (const bytes of stream) {
    kept.push(bytes);
    // The program goes on when nobody reads our stderr any more.
    await denoTerminal.stderr.write(bytes).catch(() => {});
  }
  return kept.toText().text.trim();
}

async function feed(stdin: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(bytes);
    await writer.close();
  } catch {
    // The program closed its input before reading all of it; its exit code tells the rest.
  }
}

/** Nobody can look through what the Store puts on PATH (error 1920); as an entry of its folder it is a file. */
async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return Deno.build.os === "windows" && await Deno.lstat(path).then(({ isFile }) => isFile, () => false);
  }
}
