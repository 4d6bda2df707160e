/** What a driver with the feature `crash_policies` must do. */

import type { CrashSettings, KeepingPolicy, KeptCrash } from "../contract/crash_policy.ts";
import type { CallScope } from "./call_scope.ts";

/** What becomes of a VM's crashes. */
export interface CrashAbilities {
  /**
   * Changes what is given and leaves the rest. Answers which fields hold now and which at the next start. Throws
   * `hv.unsupported` for causes of a panic where the VM's kernel is not ours to start.
   */
  configure(
    id: string,
    settings: CrashSettings,
    scope: CallScope,
  ): Promise<{ now: string[]; at_next_start: string[] }>;
  /**
   * Lets a guest that has crashed go on for half a second, so that its console gets its end, and halts it again. The VM
   * stays in the state `crashed`. Does nothing for a guest that has had its time.
   */
  finishConsole(id: string, signal: AbortSignal): Promise<void>;
  /** What the policy has kept of the crash of the VM's present run; `open` while it is being kept. */
  kept(id: string): Promise<{ state: "open" | "kept"; kept?: KeptCrash | undefined } | undefined>;
}

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
