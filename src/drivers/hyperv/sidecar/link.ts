/** One running sidecar: a PowerShell process and the requests that are open with it. */

import { HvError } from "../../../base/errors.ts";
import type { Host } from "../../../host/host.ts";
import type { PipedProcess } from "../../../host/piped.ts";
import { type Arguments, FrameReader, writeCancel, writeLine, writeRequest } from "./frames.ts";
import { operationFunctions, type OperationName } from "../operations.ts";
import { type OpenRequest, OpenRequests } from "./requests.ts";
import { BOOTSTRAP, GUEST_END, LIBRARY, LOOP, WORKER } from "./scripts.ts";

/** How many operations run at once; more wait for a free runspace. */
const WORKERS = 6;
/** What is kept of what others print, for the report of a failure. */
const NOISE_LIMIT = 2_000;
/** How long a sidecar may take to end by itself once its input is closed. */
const FAREWELL_MS = 1_000;
/** How long programs that it started may hold its output open after its end. */
const STRAGGLERS_MS = 1_000;
/** PowerShell itself starts in 0.3 to 2 s; a busy machine may take many times that. */
const START_LIMIT_MS = 60_000;

export interface LinkOptions {
  /** `powershell.exe` or `pwsh`. */
  program: string;
  env: Record<string, string>;
  /** A folder of modules that goes before all others. */
  modules: string | undefined;
}

/** Arguments of PowerShell: no profile, no prompt, plain text, and a short fixed command. */
const START: readonly string[] = [
  "-NoLogo",
  "-NoProfile",
  "-NonInteractive",
  "-OutputFormat",
  "Text",
  "-Command",
  BOOTSTRAP,
];

export class SidecarLink {
  readonly program: string;
  readonly #host: Host;
  readonly #process: PipedProcess;
  readonly #requests = new OpenRequests();
  readonly #reading: Promise<unknown>;
  #noise = "";
  #isOver = false;

  private constructor(host: Host, program: string, process: PipedProcess) {
    this.#host = host;
    this.program = program;
    this.#process = process;
    // What it wrote before its end is read first: it tells whether an operation had begun.
    const streams = Promise.allSettled([this.#readFrames(), this.#readNoise()]);
    const timer = new AbortController();
    const stragglers = process.ended.then(() => host.clock.sleep(STRAGGLERS_MS, timer.signal)).catch(
      () => {},
    );
    this.#reading = Promise.race([streams, stragglers]).then(async () => {
      timer.abort();
      this.#end();
      await process.kill();
      await process.closeInput();
    });
  }

  /** Starts one and waits until its loop answers; no module is loaded yet. */
  static async open(
    host: Host,
    { program, env, modules }: LinkOptions,
    signal: AbortSignal,
  ): Promise<SidecarLink> {
    signal.throwIfAborted();
    const link = new SidecarLink(host, program, await host.processes.open(program, START, { env }));
    try {
      await link.#greet(modules, signal);
      return link;
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  get processId(): number {
    return this.#process.pid;
  }

  /** False once nobody answers any more. */
  get isAlive(): boolean {
    return !this.#isOver;
  }

  /** How many requests have no outcome yet. */
  get openRequests(): number {
    return this.#requests.size;
  }

  /** Sends a request. Its outcome says whether anybody took it. */
  send(
    call: OperationName,
    args: Arguments,
    progress: (activity: string, percent: number) => void,
  ): OpenRequest {
    const request = this.#requests.open(progress);
    this.#process.write(writeRequest(request.id, call, args)).catch(() => this.#process.kill());
    return request;
  }

  /** Asks for a request to be stopped. */
  cancel({ id }: OpenRequest): void {
    this.#process.write(writeCancel(id)).catch(() => this.#process.kill());
  }

  /** Ends it: closed input is its sign to go, and what does not go is killed. */
  async close(): Promise<void> {
    await this.#process.closeInput();
    const timer = new AbortController();
    const late = this.#host.clock.sleep(FAREWELL_MS, timer.signal).then(() => this.#process.kill(), () => {});
    await this.#process.ended;
    timer.abort();
    await late;
    await this.#reading;
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    await this.#process.kill();
    await this.close();
  }

  async #greet(modules: string | undefined, signal: AbortSignal): Promise<void> {
    const greeting = this.#requests.open(() => {});
    const hello = {
      id: greeting.id,
      library: LIBRARY,
      guest_end: GUEST_END,
      worker: WORKER,
      operations: operationFunctions(),
      workers: WORKERS,
      modules: modules ?? null,
    };
    const program = new TextEncoder().encode(new TextEncoder().encode(LOOP).toBase64() + "\n");
    this.#process.write(program).then(() => this.#process.write(writeLine(hello))).catch(() =>
      this.#process.kill()
    );
    const limit = new AbortController();
    const either = AbortSignal.any([signal, limit.signal]);
    const late = this.#host.clock.sleep(START_LIMIT_MS, either).then(
      () => undefined,
      () => undefined,
    );
    const outcome = await Promise.race([greeting.outcome, late]);
    limit.abort();
    await late;
    signal.throwIfAborted();
    if (outcome?.kind === "result") return;
    throw new HvError("hv.unavailable", `The program "${this.program}" does not become a sidecar`, {
      hint: "Run `hvlab doctor`",
      context: { program: this.program, outcome: outcome?.kind ?? "silent", printed: this.#noise },
    });
  }

  async #readFrames(): Promise<void> {
    const reader = new FrameReader((line) => this.#keepNoise(line + "\n"));
    for await (const bytes of this.#process.stdout) {
      for (const frame of reader.push(bytes)) this.#requests.take(frame);
    }
  }

  async #readNoise(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of this.#process.stderr) this.#keepNoise(decoder.decode(bytes, { stream: true }));
  }

  #keepNoise(text: string): void {
    this.#noise = (this.#noise + text.slice(-NOISE_LIMIT)).slice(-NOISE_LIMIT);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#requests.lose(
      new HvError("hv.unavailable", `The sidecar "${this.program}" has ended`, {
        hint: "Try again; a new one is started",
        context: { program: this.program, pid: this.#process.pid, printed: this.#noise },
      }),
    );
  }
}
