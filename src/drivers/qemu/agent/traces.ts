/**
 * What stays of a call that was killed: its program in the guest, and the files that the agent holds open for it. Each
 * call keeps a small file beside the agent's lock that says so, under a kernel lock that ends with the call. Whoever uses
 * the agent next and finds such a file free ends the program and closes the files.
 */

import type { Clock } from "../../../base/clock.ts";
import { HvError } from "../../../base/errors.ts";
import { isPlainObject, parseJson } from "../../../base/json.ts";
import { folderOf, joinPath, nameOf } from "../../../base/paths.ts";
import type { Host } from "../../../host/host.ts";
import type { Lock } from "../../../host/locks.ts";
import { closeHandles } from "./handles.ts";
import { readStatus, runScript, statusCommand } from "./program.ts";
import type { AgentRounds } from "./rounds.ts";
import { END_PROGRAM } from "./scripts.ts";

/** What a call has in the guest. */
export interface GuestTrace {
  pid: number;
  /** The path of the program's FIFOs, or nothing. */
  base: string;
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
    const path = this.#prefix + crypto.randomUUID();
    try {
      const lock = await this.#host.locks.tryTake(path, { folderMustExist: true });
      return new OpenTrace(this.#host, path, lock);
    } catch (error) {
      if (error instanceof HvError) return new OpenTrace(this.#host, path, undefined);
      throw error;
    }
  }

  /**
   * Tidies up after calls that were killed. The agent itself says whether a process id is still the program that it
   * started: one that was restarted, or whose guest was, knows neither the program nor the files.
   */
  async tidyUp(link: AgentRounds, clock: Clock, signal: AbortSignal): Promise<void> {
    const folder = folderOf(this.#prefix);
    const isThere = (await this.#host.files.stat(folder))?.kind === "folder";
    for (const { name } of isThere ? await this.#host.files.list(folder) : []) {
      if (!name.startsWith(nameOf(this.#prefix))) continue;
      const path = joinPath(folder, name);
      using lock = await this.#host.locks.tryTake(path, { folderMustExist: true });
      if (lock === undefined) continue;
      const trace = readTrace(lock.readText());
      if (trace !== undefined) await endAbandoned(link, clock, trace, signal);
      await this.#host.files.remove(path);
    }
  }
}

/** The trace of one call that lives. */
export class OpenTrace {
  readonly #host: Host;
  readonly #path: string;
  readonly #lock: Lock | undefined;

  constructor(host: Host, path: string, lock: Lock | undefined) {
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

/** Ends a program that nobody follows any more, and closes its files. */
async function endAbandoned(
  link: AgentRounds,
  clock: Clock,
  { pid, base, handles }: GuestTrace,
  signal: AbortSignal,
): Promise<void> {
  const [status] = await link.ask([statusCommand(pid)], { signal });
  if (!status.ok) return;
  if (readStatus(pid, status).exit === undefined) {
    await runScript(link, clock, END_PROGRAM, [String(pid), base], signal);
    // The agent remembers an ended program until it is asked.
    await link.ask([statusCommand(pid)], { signal });
  }
  await closeHandles(link, clock, handles);
}

/** `undefined` for what a call left that was killed before it had anything in the guest. */
function readTrace(text: string): GuestTrace | undefined {
  try {
    const value = parseJson(text);
    if (!isPlainObject(value) || !Array.isArray(value.handles)) return undefined;
    const { pid, base } = value;
    if (typeof pid !== "number" || typeof base !== "string") return undefined;
    return { pid, base, handles: value.handles.filter((handle) => typeof handle === "number") };
  } catch {
    return undefined;
  }
}
