/** Which process an operation belongs to, and whether that process still lives. */

import { HvError } from "../base/errors.ts";
import type { Host } from "../host/host.ts";

/** A process across the reuse of its pid. */
export interface Owner {
  /** A mark that only this very process has. */
  token: string;
  pid: number;
  /** When it started, as `ps` prints it; `null` where `ps` could not be asked, as on Windows. */
  started: string | null;
}

/** This process, among all that ever had or will have its pid. */
export const PROCESS_TOKEN: string = crypto.randomUUID();

/**
 * `ps` works out the start from the time of boot, which moves when the clock is set, so a few seconds do not tell
 * two processes apart.
 */
const SAME_START_MS = 3000;

/** Describes this process. */
export async function describeOwner(host: Host): Promise<Owner> {
  const pid = host.machine.processId();
  const facts = await look(host, pid);
  return { token: PROCESS_TOKEN, pid, started: typeof facts === "object" ? facts.started : null };
}

/** Looks at owners, each process once. */
export class OwnerWatch {
  readonly #host: Host;
  readonly #seen = new Map<number, Promise<Looked>>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** False only when the process is surely gone: that nobody can be asked proves nothing. */
  async isAlive(owner: Owner): Promise<boolean> {
    if (owner.token === PROCESS_TOKEN) return true;
    const facts = await (owner.started === null ? this.#seek(owner.pid) : this.#look(owner.pid));
    if (facts === "not seen") return true;
    if (facts === "gone") return false;
    return owner.started === null || facts === "there" || isSameStart(owner.started, facts.started);
  }

  #look(pid: number): Promise<Looked> {
    return this.#once(pid, () => look(this.#host, pid));
  }

  #seek(pid: number): Promise<Looked> {
    return this.#once(pid, () => seek(this.#host, pid));
  }

  #once(pid: number, make: () => Promise<Looked>): Promise<Looked> {
    const looking = this.#seen.get(pid) ?? make();
    this.#seen.set(pid, looking);
    return looking;
  }
}

type Looked = { started: string } | "there" | "gone" | "not seen";

async function look(host: Host, pid: number): Promise<Looked> {
  return await unlessBlind(async () => await host.processes.describe(pid) ?? "gone");
}

async function seek(host: Host, pid: number): Promise<Looked> {
  return await unlessBlind(async () => await host.processes.isRunning(pid) ? "there" : "gone");
}

async function unlessBlind(work: () => Promise<Looked>): Promise<Looked> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HvError) return "not seen";
    throw error;
  }
}

function isSameStart(one: string, other: string): boolean {
  return one === other || Math.abs(Date.parse(one) - Date.parse(other)) <= SAME_START_MS;
}
