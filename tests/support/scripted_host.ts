/**
 * A host of which the test says what programs answer and who listens on sockets. Files and locks are real, in a
 * folder of the test's own.
 *
 *     await using host = await ScriptedHost.open();
 *     host.processes.expect("qemu-img", ["--version"], { stdout: "qemu-img version 7.2.22" });
 *     host.processes.table.push({ pid: 7, started: "Sun Nov 29 12:00:00 2026", args: "sleep 9" });
 *     await host.sockets.listen(`${host.root}/socket`, (line, answer) => answer(line));
 */

import assert from "node:assert/strict";
import { basename } from "node:path";
import { denoFiles } from "../../src/host/files.ts";
import { denoDownloads } from "../../src/host/downloads.ts";
import type { Host } from "../../src/host/host.ts";
import type { OperatingSystem } from "../../src/host/operating_system.ts";
import { FileLocks } from "../../src/host/locks.ts";
import { denoMachine, type Machine } from "../../src/host/machine.ts";
import { denoPermissions } from "../../src/host/permissions.ts";
import type { ProcessFacts } from "../../src/host/process_table.ts";
import type { Attached, Finished, Processes, RunOptions } from "../../src/host/processes.ts";
import type { Connection, Sockets } from "../../src/host/sockets.ts";
import type { PipedProcess } from "../../src/host/piped.ts";
import type { ChildProcess, SpawnOptions } from "../../src/host/spawn.ts";
import { denoTerminal } from "../../src/host/terminal.ts";
import { VirtualClock } from "./virtual_clock.ts";

/** What a program answers; an exit code of 0 and no output when left out. */
export interface Answer {
  code?: number;
  stdout?: string;
  stderr?: string;
  /** Thrown instead, as when the program is missing. */
  failure?: Error;
}

interface Expectation {
  program: string;
  args: readonly string[] | RegExp;
  answer: Answer;
}

/** Programs: each run must have been expected, in this order; the process table is a list that the test writes. */
export class ScriptedProcesses implements Processes {
  /** What runs on the machine. */
  readonly table: ProcessFacts[] = [];
  /** Programs on PATH. */
  readonly places = new Map<string, string>();
  /** Signals sent, as `TERM 7`. */
  readonly signals: string[] = [];
  /** What a signal does; ends the process when left alone. */
  onSignal: (pid: number, signal: "TERM" | "KILL") => void = (pid) => this.end(pid);
  /** Called for each program that is started to live on. */
  onStart: (program: string, args: readonly string[], options: SpawnOptions) => Promise<ChildProcess> = (
    program,
  ) => Promise.reject(new Error(`nobody expected the start of "${program}"`));
  readonly #expected: Expectation[] = [];

  /** The next run must be this one. A pattern is matched against the arguments joined by spaces. */
  expect(program: string, args: readonly string[] | RegExp, answer: Answer = {}): void {
    this.#expected.push({ program, args, answer });
  }

  /** Removes a process from the table. */
  end(pid: number): void {
    const index = this.table.findIndex((process) => process.pid === pid);
    if (index >= 0) this.table.splice(index, 1);
  }

  assertAllRun(): void {
    assert.deepEqual(
      this.#expected.map(({ program }) => program),
      [],
      "programs that were expected and not run",
    );
  }

  run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return new Promise((resolve) => {
      options.signal?.throwIfAborted();
      const next = this.#expected.shift();
      const text = [program, ...args].join(" ");
      assert.ok(next !== undefined, `nobody expected the run of "${text}"`);
      assert.equal(program, next.program, `the next run was to be "${next.program}", not "${text}"`);
      if (next.args instanceof RegExp) assert.match(args.join(" "), next.args);
      else assert.deepEqual(args, next.args);
      const { code = 0, stdout = "", stderr = "", failure } = next.answer;
      if (failure !== undefined) throw failure;
      const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);
      resolve({ code, signal: null, stdout: bytes(stdout), stderr: bytes(stderr) });
    });
  }

  start(program: string, args: readonly string[], options: SpawnOptions): Promise<ChildProcess> {
    return this.onStart(program, args, options);
  }

  attach(program: string): Promise<Attached> {
    return Promise.reject(new Error(`nobody expected "${program}" on our terminal`));
  }

  open(program: string): Promise<PipedProcess> {
    return Promise.reject(new Error(`nobody expected that "${program}" is talked to`));
  }

  find(program: string): Promise<string | undefined> {
    return Promise.resolve(this.places.get(program));
  }

  describe(pid: number): Promise<ProcessFacts | undefined> {
    return Promise.resolve(this.table.find((process) => process.pid === pid));
  }

  async isRunning(pid: number): Promise<boolean> {
    return await this.describe(pid) !== undefined;
  }

  list(programName: string): Promise<ProcessFacts[]> {
    return Promise.resolve(
      this.table.filter(({ args }) => basename(args.split(" ", 1)[0] ?? "") === programName),
    );
  }

  kill(pid: number, signal: "TERM" | "KILL"): Promise<boolean> {
    this.signals.push(`${signal} ${pid}`);
    const found = this.table.some((process) => process.pid === pid);
    if (found) this.onSignal(pid, signal);
    return Promise.resolve(found);
  }
}

/** Answers a client: `answer` sends one line back, `hangUp` ends the connection. */
export type LineServer = (line: string, answer: (line: string) => void, hangUp: () => void) => void;

interface Listener {
  greeting: string | undefined;
  serve: LineServer;
}

/** Sockets: the test says who listens where. */
export class ScriptedSockets implements Sockets {
  readonly #listeners = new Map<string, Listener>();
  readonly #openPorts = new Set<number>();

  /** Lets somebody listen on a unix socket, who speaks first when there is a greeting. The path comes to exist. */
  async listen(path: string, serve: LineServer, greeting?: string): Promise<void> {
    this.#listeners.set(path, { greeting, serve });
    await Deno.writeTextFile(path, "");
  }

  /** Nobody listens any more; the path stays, as after a kill. */
  silence(path: string): void {
    this.#listeners.delete(path);
  }

  takePort(port: number): void {
    this.#openPorts.add(port);
  }

  connectUnix(path: string): Promise<Connection | undefined> {
    const listener = this.#listeners.get(path);
    return Promise.resolve(listener === undefined ? undefined : connectionTo(listener));
  }

  listenUnix(path: string): never {
    throw new Error(`nobody may listen on "${path}" in this test`);
  }

  connectTcp(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  isPortFree(_hostname: string, port: number): boolean {
    return !this.#openPorts.has(port);
  }
}

function connectionTo({ greeting, serve }: Listener): Connection {
  const incoming: (Uint8Array | null)[] = [];
  let wake = (): void => {};
  const push = (bytes: Uint8Array | null): void => {
    incoming.push(bytes);
    wake();
  };
  const answer = (line: string): void => push(new TextEncoder().encode(line + "\n"));
  let text = "";
  const close = (): void => push(null);
  if (greeting !== undefined) answer(greeting);
  return {
    async read() {
      while (incoming.length === 0) await new Promise<void>((resolve) => wake = resolve);
      const [bytes = null] = incoming;
      if (bytes !== null) incoming.shift();
      return bytes;
    },
    write(bytes) {
      const lines = (text + new TextDecoder().decode(bytes)).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) serve(line, answer, close);
      return Promise.resolve();
    },
    close,
    [Symbol.dispose]: close,
  };
}

export class ScriptedHost implements Host, AsyncDisposable {
  os: OperatingSystem = "linux";
  readonly clock = new VirtualClock();
  readonly files = denoFiles;
  readonly locks = new FileLocks(this.clock);
  readonly processes = new ScriptedProcesses();
  readonly sockets = new ScriptedSockets();
  readonly permissions = denoPermissions;
  readonly terminal = denoTerminal;
  readonly downloads = denoDownloads;
  readonly variables = new Map<string, string>();
  readonly machine: Machine = {
    ...denoMachine,
    processors: () => 2,
    memory: () => ({ total_mb: 8192, available_mb: 4096 }),
    hostname: () => "scripted",
    processId: () => 4242,
  };
  readonly environment = {
    get: (name: string): string | undefined => this.variables.get(name),
    configFolder: (): string => `${this.root}/config`,
    stateFolder: (): string => `${this.root}/state`,
    runtimeFolder: (): string => `${this.root}/run`,
  };

  /** The test's own folder; short, so that socket paths fit. */
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async open(): Promise<ScriptedHost> {
    return new ScriptedHost(await Deno.realPath(await Deno.makeTempDir({ prefix: "hv-" })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
    this.processes.assertAllRun();
  }
}
