/** Starts that go on from where a machine was, instead of booting it. */

import type { MachinePlan } from "../launch/machine_plan.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import type { RuntimeFolder } from "../runtime_folder.ts";

/** How a start differs from a boot of what the record names. */
export interface StartFrom {
  plan: Partial<MachinePlan>;
  /** Makes the machine what it was when its memory was kept. */
  adapt?: (plan: MachinePlan) => MachinePlan;
  /** Called once the monitor answers, with the machine not running yet. */
  prepare: (session: QmpSession, runtime: RuntimeFolder, signal: AbortSignal) => Promise<void>;
  /** Ends what `prepare` began and left at work; called when the start fails, before its runtime folder goes. */
  giveUp?: () => Promise<void>;
}
