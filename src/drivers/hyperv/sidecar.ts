/**
 * The sidecar of this process: one long-lived PowerShell, started by the first call that needs it and replaced when it
 * is stuck or dead. A read whose sidecar died is sent once more; a change is never sent twice.
 */

import { startDeadline } from "../../base/deadline.ts";
import { HvError } from "../../base/errors.ts";
import type { Progress } from "../../contract/operation.ts";
import type { Host } from "../../host/host.ts";
import { failureOf } from "./failures.ts";
import type { Arguments } from "./sidecar/frames.ts";
import type { SidecarLink } from "./sidecar/link.ts";
import { type Operation, type OperationName, OPERATIONS } from "./operations.ts";
import { CANDIDATES, openSidecar, type ReadySidecar, type SidecarFacts } from "./sidecar/probe.ts";
import type { OpenRequest, Outcome } from "./sidecar/requests.ts";

/** What a call carries. */
export interface SidecarScope {
  readonly signal: AbortSignal;
  readonly progress?: (progress: Progress) => void;
}

/** How long a stopped operation may take to stop before its sidecar counts as stuck. */
const STOP_GRACE_MS = 3_000;
/** How long a runspace may take to load the module. */
const LOAD_LIMIT_MS = 120_000;

export class Sidecar {
  readonly #host: Host;
  readonly #life = new AbortController();
  #programs: readonly string[];
  #ready: Promise<ReadySidecar> | undefined;
  /** Sidecars that were replaced, with how many of their requests are stuck for good. */
  readonly #retired = new Map<SidecarLink, number>();
  readonly #endings = new Set<Promise<void>>();

  constructor(host: Host) {
    this.#host = host;
    this.#programs = host.os === "windows" ? CANDIDATES.windows : CANDIDATES.other;
  }

  /** Starts the sidecar if need be and says what it is. */
  async facts(signal: AbortSignal): Promise<SidecarFacts> {
    return (await this.#open(signal)).facts;
  }

  /** Starts the sidecar if need be and says which program it is. */
  async program(signal: AbortSignal): Promise<string> {
    return (await this.#open(signal)).link.program;
  }

  /**
   * Runs one operation and gives its raw answer. Fails with the operation's own coded error, the signal's reason, or
   * `hv.outcome_unknown` when the sidecar went away with a change that had begun.
   */
  async call(name: OperationName, args: Arguments, scope: SidecarScope): Promise<unknown> {
    const operation: Operation = OPERATIONS[name];
    for (let attempt = 0;; attempt++) {
      const { link } = await this.#open(scope.signal);
      const outcome = await this.#perform(link, name, operation, args, scope);
      switch (outcome.kind) {
        case "result":
          return outcome.value;
        case "error":
          throw failureOf(name, outcome.phase, outcome.error);
        case "stopped":
          throw new HvError("hv.job_failed", `The operation "${name}" was stopped: ${outcome.reason}`, {
            hint: "Look at the state, then try again",
            context: { operation: name, reason: outcome.reason },
          });
        case "lost":
          if (operation.kind === "read" && attempt === 0) continue;
          throw lostFailure(name, operation, outcome);
      }
    }
  }

  /** Ends the sidecar and everything that was replaced. */
  async close(): Promise<void> {
    this.#life.abort(new HvError("hv.cancelled", "hvlab ended while the sidecar was started"));
    const ready = this.#ready;
    this.#ready = undefined;
    for (const link of this.#retired.keys()) this.#finish(link);
    await Promise.allSettled([ready?.then(({ link }) => link.close()), ...this.#endings]);
  }

  async #open(signal: AbortSignal): Promise<ReadySidecar> {
    signal.throwIfAborted();
    const known = this.#ready;
    if (known !== undefined) {
      const ready = await race(known, signal);
      if (ready.link.isAlive) return ready;
      if (this.#ready === known) this.#ready = undefined;
    }
    // The start belongs to all calls that wait for it: one caller's end does not stop it.
    this.#ready ??= this.#start();
    return await race(this.#ready, signal);
  }

  #start(): Promise<ReadySidecar> {
    const starting = openSidecar(this.#host, this.#programs, this.#life.signal);
    starting.then(
      ({ link }) => this.#programs = [link.program],
      () => {
        if (this.#ready === starting) this.#ready = undefined;
      },
    );
    return starting;
  }

  async #perform(
    link: SidecarLink,
    name: OperationName,
    { limit_s }: Operation,
    args: Arguments,
    { signal, progress = () => {} }: SidecarScope,
  ): Promise<Outcome> {
    const request = link.send(name, args, (activity, percent) => progress(progressOf(activity, percent)));
    try {
      {
        using loading = startDeadline(this.#host.clock, LOAD_LIMIT_MS, signal);
        await race(request.begun, loading.signal);
      }
      using running = startDeadline(
        this.#host.clock,
        limit_s === undefined ? undefined : limit_s * 1000,
        signal,
      );
      return await race(request.outcome, running.signal);
    } catch (error) {
      await this.#stop(link, request);
      throw error instanceof HvError ? error.withContext({ operation: name }) : error;
    } finally {
      this.#finishWhenDone(link);
    }
  }

  /** Stops a request; a sidecar in which it does not stop is replaced. */
  async #stop(link: SidecarLink, request: OpenRequest): Promise<void> {
    link.cancel(request);
    const timer = new AbortController();
    const late = this.#host.clock.sleep(STOP_GRACE_MS, timer.signal).then(
      () => "late" as const,
      () => undefined,
    );
    const first = await Promise.race([request.outcome, late]);
    timer.abort();
    await late;
    if (first !== "late") return;
    this.#retired.set(link, (this.#retired.get(link) ?? 0) + 1);
    const ready = this.#ready;
    const current = ready === undefined ? undefined : await ready.catch(() => undefined);
    if (current?.link === link && this.#ready === ready) this.#ready = undefined;
  }

  /** Ends a replaced sidecar once only its stuck requests are left. */
  #finishWhenDone(link: SidecarLink): void {
    const stuck = this.#retired.get(link);
    if (stuck !== undefined && link.openRequests <= stuck) this.#finish(link);
  }

  #finish(link: SidecarLink): void {
    this.#retired.delete(link);
    const ending = link.kill();
    this.#endings.add(ending);
    ending.finally(() => this.#endings.delete(ending));
  }
}

function lostFailure(
  name: OperationName,
  { kind }: Operation,
  { began, cause }: Outcome & { kind: "lost" },
): HvError {
  if (kind === "read") return cause.withContext({ operation: name });
  if (!began) {
    return new HvError("hv.unavailable", `The sidecar ended before "${name}" began; nothing was changed`, {
      hint: "Try again",
      context: { ...cause.context, operation: name },
      cause,
    });
  }
  return new HvError(
    "hv.outcome_unknown",
    `The sidecar ended while "${name}" ran; Hyper-V may have done it`,
    {
      hint: "Look at the state before doing anything again",
      context: { ...cause.context, operation: name },
      cause,
    },
  );
}

function progressOf(activity: string, percent: number): Progress {
  if (percent < 0) return { message: activity };
  return { message: `${activity} ${percent} %`, fraction: Math.min(100, percent) / 100 };
}

/** The work's own end, or the signal's reason when that comes first. */
function race<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
