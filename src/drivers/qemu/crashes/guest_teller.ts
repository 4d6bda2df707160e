/**
 * Has the kernel of a running guest told what to panic at, once in each boot and whatever it booted: a kernel that came
 * from its own disk has not read our words, and one that runs reads none that are new.
 */

import { HvError, toHvError } from "../../../base/errors.ts";
import type { PanicCause } from "../../../contract/crash_policy.ts";
import type { GuestTelling } from "../../crash_abilities.ts";
import type { QemuContext } from "../context.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import type { VmRecord } from "../records.ts";
import { panicCauses } from "./panic_words.ts";
import { type ToldNote, writeTold } from "./told.ts";
import { holdsAgentPort } from "../vm_agent.ts";

/** Between two looks whether the agent has opened its port; each is one question to the monitor. */
const LOOK_MS = 500;
/** Between two tries of a guest that has opened the port and does not answer. */
const TRY_AGAIN_MS = 5_000;
const TELL_LIMIT_MS = 30_000;
/** Failures of a moment; all others are the guest's own word. */
const PASSING: ReadonlySet<string> = new Set([
  "hv.guest_not_ready",
  "hv.outcome_unknown",
  "hv.conflict",
  "hv.timeout",
  "hv.cancelled",
]);

/** What telling needs. */
export interface TellerParts {
  readonly context: QemuContext;
  readonly session: Pick<QmpSession, "command">;
  readonly tell: GuestTelling;
}

/** Tells one machine's guest. */
export class GuestTeller {
  readonly #parts: TellerParts;
  #record: VmRecord;
  #causes: readonly PanicCause[] = [];
  #ending = new AbortController();
  /** One of an earlier boot may still be waiting for a guest that is gone. */
  readonly #works = new Set<Promise<void>>();
  #written: Promise<void> = Promise.resolve();

  constructor(parts: TellerParts, record: VmRecord) {
    this.#parts = parts;
    this.#record = record;
  }

  /** Takes the VM's record as it is now, and tells the guest when that wants something else. */
  update(record: VmRecord): void {
    this.#record = record;
    const causes = panicCauses(record);
    if (causes.join() === this.#causes.join()) return;
    this.#causes = causes;
    this.again();
  }

  /** The guest may be another one now: it has been reset, or its memory replaced. */
  again(): void {
    this.#ending.abort();
    const causes = this.#causes;
    if (causes.length === 0) return;
    const { signal } = this.#ending = new AbortController();
    // A machine that ends takes its monitor and its folder along, and nobody is left to be told.
    const work: Promise<void> = this.#tellOnce(causes, signal).catch(() => {}).finally(() => {
      this.#works.delete(work);
    });
    this.#works.add(work);
  }

  /** Resolves when nothing is being asked or written any more. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#works);
  }

  async #tellOnce(causes: readonly PanicCause[], signal: AbortSignal): Promise<void> {
    const { context, tell } = this.#parts;
    const { id } = this.#record;
    await this.#write(causes, { problem: "Its guest agent has not answered yet", phase: "silent" }, signal);
    for (;;) {
      if (!await this.#hasAgent()) {
        await context.host.clock.sleep(LOOK_MS, signal);
        continue;
      }
      await this.#write(causes, { problem: "It is being told", phase: "asking" }, signal);
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(TELL_LIMIT_MS)]);
        const problem = await tell(id, causes, limited);
        const found = problem === undefined ? {} : { problem };
        return await this.#write(causes, { ...found, phase: "answered" }, signal);
      } catch (error) {
        signal.throwIfAborted();
        const failure = toHvError(error);
        const passes = !(error instanceof HvError) || PASSING.has(failure.code);
        await this.#write(
          causes,
          { problem: failure.message, phase: passes ? "silent" : "answered" },
          signal,
        );
        if (!passes) return;
      }
      await context.host.clock.sleep(TRY_AGAIN_MS, signal);
    }
  }

  async #write(
    causes: readonly PanicCause[],
    found: Pick<ToldNote, "problem" | "phase">,
    signal: AbortSignal,
  ): Promise<void> {
    const { id, last_start: start } = this.#record;
    const told = found.phase === "answered" && found.problem === undefined;
    const at = new Date(this.#parts.context.host.clock.now()).toISOString();
    const note = { run: start?.at ?? "", causes: [...causes], at, told, ...found };
    // One after the other, so that nothing of an earlier boot is written over what is said of this one.
    const write = this.#written.then(async () => {
      signal.throwIfAborted();
      await writeTold(this.#parts.context, id, note);
    });
    this.#written = write.catch(() => {});
    await write;
  }

  /** Whether a program in the guest holds the agent's port. */
  async #hasAgent(): Promise<boolean> {
    return holdsAgentPort(await this.#parts.session.command("query-chardev"));
  }
}
