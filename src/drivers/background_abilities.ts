/** What goes on behind the calls: who does it, and what a driver needs done. */

import type { VmEventKind } from "../contract/vm.ts";
import type { NewVmEvent } from "../state/events.ts";
import type { CallScope } from "./call_scope.ts";
import type { CrashKeeping, GuestTelling } from "./crash_abilities.ts";

/** Calls the keeper, the one background process of a state folder. Neither method waits, and neither fails. */
export interface KeeperCall {
  /** There is something to keep: starts a keeper unless one lives, and tells a living one to look at once. */
  wake(): void;
  /** Starts a keeper in the place of one that was killed; does nothing when none was wanted. */
  revive(): void;
}

/** The history as whoever writes it sees it. */
export interface Journal {
  /** Adds an event behind those added before. Never fails: what cannot be written now is written later. */
  add(event: NewVmEvent): void;
  /** The newest event of a VM, or its newest one of a kind, with those that are not written yet. */
  newest(vm: string, kind?: VmEventKind): Promise<NewVmEvent | undefined>;
}

/** What a background process is there for. */
export interface BackgroundNeeds {
  /** Machines that run and outlive their calls. */
  machines: number;
  /** Sandboxes that live by their lease. */
  leases: number;
  /** Pools of ready clones. */
  pools: number;
  /** When the next thing is due, in milliseconds since 1970. */
  due_at?: number;
}

/** What the background process of a state folder does for a driver. */
export interface BackgroundWork {
  /**
   * Looks at everything once: watches machines that came up, ends leases that are over, brings pools to their size.
   * What fails is told through the scope's `warn` and tried again at the next look. One look at a time.
   */
  look(scope: CallScope): Promise<BackgroundNeeds>;
  /** Whether there is anything to do. Looks at records only. */
  isNeeded(): Promise<boolean>;
  /** Stops watching. Machines run on. */
  close(): Promise<void>;
}

/**
 * Opens a driver's background work. `changed` is called when it should look again before long, `keep` for each crash of
 * a VM whose policy keeps something, `tell` for each boot of a guest that is to panic at something.
 */
export type OpenBackground = (
  journal: Journal,
  changed: () => void,
  keep: CrashKeeping,
  tell: GuestTelling,
) => BackgroundWork;
