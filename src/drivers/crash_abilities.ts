/** What a driver with the feature `crash_policies` must do. */

import type { CrashSettings, KeepingPolicy, KeptCrash, PanicCause } from "../contract/crash_policy.ts";
import type { CallScope } from "./call_scope.ts";

/** What becomes of a VM's crashes. */
export interface CrashAbilities {
  /**
   * Changes what is given and leaves the rest. Answers which fields hold now and which at the next start. A kernel that
   * runs is told by whoever watches the VM; `problem` says why it has not confirmed what it panics at.
   */
  configure(
    id: string,
    settings: CrashSettings,
    scope: CallScope,
  ): Promise<{ now: string[]; at_next_start: string[]; problem?: string }>;
  /**
   * Lets a guest that has crashed go on for half a second, so that its console gets its end, and halts it again. The VM
   * stays in the state `crashed`. Does nothing for a guest that has had its time.
   */
  finishConsole(id: string, signal: AbortSignal): Promise<void>;
  /**
   * Whether the running kernel has confirmed that it panics at what it should. Waits a moment for a guest that has just
   * come up; `undefined` for a VM whose kernel need not be told anything.
   */
  told(id: string, signal: AbortSignal): Promise<PanicTold | undefined>;
  /** What the policy has kept of the crash of the VM's present run; `open` while it is being kept. */
  kept(id: string): Promise<{ state: "open" | "kept"; kept?: KeptCrash | undefined } | undefined>;
}

/** Whether a running kernel panics at what it should, and why it may not. */
export interface PanicTold {
  readonly told: boolean;
  readonly problem?: string;
}

/**
 * Tells the kernel of a running guest what to panic at, and has it read back. Answers what went wrong in one sentence when
 * the guest refused some of it; rejects when the guest could not be asked.
 */
export type GuestTelling = (
  vm: string,
  causes: readonly PanicCause[],
  signal: AbortSignal,
) => Promise<string | undefined>;

/** A crash that a driver's background work has seen. */
export interface SeenCrash {
  readonly vm: string;
  readonly name: string;
  readonly at: string;
  /** When the machine was started that crashed. */
  readonly run: string;
  readonly policy: KeepingPolicy;
  /** Whether it is found afterwards, and may have been kept already, wholly or in part. */
  readonly late: boolean;
  /** Of one that is found afterwards: what happened up to this time is in the history already. */
  readonly after?: string;
}

/** Keeps a crash by its policy, and says what was kept. Rejects only when the signal ends it. */
export type CrashKeeping = (crash: SeenCrash, signal: AbortSignal) => Promise<KeptCrash>;
