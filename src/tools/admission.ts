/** A call on its way through the pipeline. */

import type { Progress } from "../contract/operation.ts";
import type { ToolClass } from "../contract/tool_class.ts";
import type { Vm } from "../contract/vm.ts";
import type { CallContext, PreparedCall, Provided, Tool } from "./tool.ts";

/** A call that has passed every gate before its handler. */
export interface Admitted {
  tool: Tool;
  class: ToolClass;
  prepared: PreparedCall;
  context: CallContext & Provided;
  /** The VMs that the call is about, as they were observed before. */
  vms: readonly Vm[];
  relay: ProgressRelay;
  /** Grows while the call runs. */
  warnings: string[];
}

/** Hands a handler's progress to all who want it, and remembers the latest. */
export class ProgressRelay {
  latest: Progress | undefined;
  readonly #listeners: ((progress: Progress) => void)[];

  constructor(...listeners: ((progress: Progress) => void)[]) {
    this.#listeners = listeners;
  }

  listen(listener: (progress: Progress) => void): void {
    this.#listeners.push(listener);
  }

  report(progress: Progress): void {
    this.latest = progress;
    for (const listener of this.#listeners) listener(progress);
  }
}
