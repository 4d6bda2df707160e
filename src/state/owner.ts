/** Which process an operation belongs to, and whether that process still lives. */

import { HvError } from "../base/errors.ts";
import type { Host } from "../host/host.ts";

/** A process across the reuse of its pid. */
export interface Owner {
  /** A mark that only this very process has. */
  token: string;
  pid: number;
  /** When it started, as `ps` prints it; `null` where `ps` could not be asked. */
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

  /** False only when the process is surely gone: that `ps` cannot be asked proves nothing. */
  async isAlive(owner: Owner): Promise<boolean> {
    if (owner.token === PROCESS_TOKEN) return true;
    let looking = this.#seen.get(owner.pid);
    if (looking === undefined) {
      looking = look(this.#host, owner.pid);
      this.#seen.set(owner.pid, looking);
    }
    const facts = await looking;
    if (facts === "not seen") return true;
    if (facts === "gone") return false;
    return owner.started === null || isSameStart(owner.started, facts.started);
  }
}

type Looked = { started: string } | "gone" | "not seen";

async function look(host: Host, pid: number): Promise<Looked> {
  try {
    return await host.processes.describe(pid) ?? "gone";
  } catch (error) {
    if (error instanceof HvError) return "not seen";
    throw error;
  }
}

function isSameStart(one: string, other: string): boolean {
  return one === other || Math.abs(Date.parse(one) - Date.parse(other)) <= SAME_START_MS;
}
