/**
 * What stays of a call that was killed: its program in the guest, and the files that the agent holds open for it. Each
 * call keeps a small file beside the agent's lock that says so, under a kernel lock that ends with the call. Whoever uses
 * the agent next and finds such a file free ends the program and closes the files.
 */

import type { Clock } from "../../../base/clock.ts";
import { startDeadline } from "../../../base/deadline.ts";
import { HvError } from "../../../base/errors.ts";
import { isPlainObject, parseJson } from "../../../base/json.ts";
import { folderOf, joinPath, nameOf } from "../../../base/paths.ts";
import type { Host } from "../../../host/host.ts";
import type { Lock } from "../../../host/locks.ts";
import { closeHandles } from "./handles.ts";
import { readStatus, runScript, statusCommand } from "./program.ts";
import type { AgentRounds } from "./rounds.ts";
import { AGENT_AGE, END_PROGRAM, FIND_WAITING } from "./scripts.ts";

/** How long a call waits for the end of another's program: one that hangs in the kernel may never end. */
const END_LIMIT_MS = 5_000;

/** What a call has in the guest. */
export interface GuestTrace {
  /** Its program's process; left out until the agent has told it, and until then the program waits for it to be noted. */
  pid?: number;
  /** The path of the program's FIFOs, or nothing; left out where there is no program. */
  base?: string;
  /** What the agent holds open. */
  handles: readonly number[];
}

/** The files of all calls to one agent. */
export class AgentTraces {
  readonly #host: Host;
  readonly #prefix: string;

  /** `lock` is the file that guards the agent. */
  constructor(host: Host, lock: string) {
    this.#host = host;
    this.#prefix = `${lock}.trace-`;
  }

  /** Begins to keep a trace; a host that cannot is no reason to fail the call. */
  async open(): Promise<OpenTrace> {
    const id = crypto.randomUUID();
    const path = this.#prefix + id;
    try {
      const lock = await this.#host.locks.tryTake(path, { folderMustExist: true });
      return new OpenTrace(this.#host, id, path, lock);
    } catch (error) {
      if (error instanceof HvError) return new OpenTrace(this.#host, id, path, undefined);
      throw error;
    }
  }

  /**
   * Tidies up after calls that were killed. An agent that was restarted, or whose guest was, knows neither their programs
   * nor their files, and numbers others as it did theirs.
   */
  async tidyUp(link: AgentRounds, clock: Clock, signal: AbortSignal): Promise<void> {
    const folder = folderOf(this.#prefix);
    const beginning = nameOf(this.#prefix);
    const isThere = (await this.#host.files.stat(folder))?.kind === "folder";
    for (const { name } of isThere ? await this.#host.files.list(folder) : []) {
      if (!name.startsWith(beginning)) continue;
      const path = joinPath(folder, name);
      using lock = await this.#host.locks.tryTake(path, { folderMustExist: true });
      if (lock === undefined) continue;
      const trace = readTrace(lock.readText());
      const noted = (await this.#host.files.stat(path))?.modified ?? 0;
      const id = name.slice(beginning.length);
      const isOver = trace === undefined || await endAbandoned(link, clock, { id, noted, ...trace }, signal);
      if (isOver) await this.#host.files.remove(path);
    }
  }
}

/** The trace of one call that lives. */
export class OpenTrace {
  /** The word by which the program is found whose process nobody knows yet. */
  readonly id: string;
  readonly #host: Host;
  readonly #path: string;
  readonly #lock: Lock | undefined;

  constructor(host: Host, id: string, path: string, lock: Lock | undefined) {
    this.id = id;
    this.#host = host;
    this.#path = path;
    this.#lock = lock;
  }

  /** Replaces what the trace says. Where it cannot be written, the call goes on without. */
  note(trace: GuestTrace): void {
    if (this.#lock === undefined) return;
    try {
      this.#lock.writeText(JSON.stringify(trace));
    } catch (error) {
      if (!(error instanceof HvError)) throw error;
    }
  }

  /** Nothing is left in the guest. */
  async remove(): Promise<void> {
    if (this.#lock === undefined) return;
    await this.#host.files.remove(this.#path);
    this.#lock.release();
  }

  /** Leaves what is in the guest to the next call. */
  leave(): void {
    this.#lock?.release();
  }
}

interface AbandonedTrace extends GuestTrace {
  id: string;
  /** When it was written, in milliseconds since 1970. */
  noted: number;
}

/** Ends a program that nobody follows any more, and closes its files. Answers whether nothing is left to do. */
async function endAbandoned(
  link: AgentRounds,
  clock: Clock,
  trace: AbandonedTrace,
  signal: AbortSignal,
): Promise<boolean> {
  const { base, handles, noted } = trace;
  const isKnown = base !== undefined && await endProgram(link, clock, { ...trace, base }, signal);
  if (handles.length === 0) return true;
  // A program that has ended is forgotten once its end was told.
  if (!isKnown && !await wasThere(link, clock, noted, signal)) return true;
  return await closeHandles(link, clock, handles);
}

/** Answers whether the agent knows the program. */
async function endProgram(
  link: AgentRounds,
  clock: Clock,
  { id, base, pid: told }: AbandonedTrace & { base: string },
  signal: AbortSignal,
): Promise<boolean> {
  const pid = told ?? await findWaiting(link, clock, id, signal);
  if (pid === undefined) return false;
  const [status] = await link.ask([statusCommand(pid)], { signal });
  // An agent that was restarted does not know it, and by its word it is ours all the same.
  const isRunning = status.ok ? readStatus(pid, status).exit === undefined : told === undefined;
  if (isRunning) {
    await endWithinLimit(link, clock, [String(pid), base], signal);
    // The agent remembers an ended program until it is asked.
    await link.ask([statusCommand(pid)], { signal });
  }
  return status.ok;
}

/** Ends a program, and goes on without having seen its end when it takes too long. */
async function endWithinLimit(
  link: AgentRounds,
  clock: Clock,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  using limit = startDeadline(clock, END_LIMIT_MS, signal);
  try {
    await runScript(link, clock, END_PROGRAM, args, limit.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error !== limit.signal.reason) throw error;
  }
}

/**
 * Whether the agent that answers now did so at that time already. The guest's time stands still while its VM is paused or
 * saved, and ours does not: after that the answer is no, and what the agent holds open stays so until it is restarted.
 */
async function wasThere(
  link: AgentRounds,
  clock: Clock,
  time: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { stdout } = await runScript(link, clock, AGENT_AGE, [], signal);
  return Number(stdout) * 10 > clock.now() - time;
}

/** The process of a program that waits at its gate; `undefined` when its start never reached the guest. */
async function findWaiting(
  link: AgentRounds,
  clock: Clock,
  id: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { stdout } = await runScript(link, clock, FIND_WAITING, [id], signal);
  return stdout === "" ? undefined : Number(stdout);
}

/** `undefined` for what a call left that was killed before it had anything in the guest. */
function readTrace(text: string): GuestTrace | undefined {
  try {
    const value = parseJson(text);
    if (!isPlainObject(value) || !Array.isArray(value.handles)) return undefined;
    const { pid, base } = value;
    return {
      ...(typeof pid === "number" ? { pid } : {}),
      ...(typeof base === "string" ? { base } : {}),
      handles: value.handles.filter((handle) => typeof handle === "number"),
    };
  } catch {
    return undefined;
  }
}
