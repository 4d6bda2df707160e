/** What a driver with the feature `checkpoints` must do. */

import type { Checkpoint } from "../contract/checkpoint.ts";
import type { Loss } from "../contract/plan.ts";
import type { CallScope } from "./call_scope.ts";

/** Checkpoints seen, and those of the record that are not whole where they are kept. */
export interface CheckpointListing {
  checkpoints: Checkpoint[];
  warnings: string[];
}

/**
 * Points to go back to. `id` is the VM's, `checkpoint` a checkpoint's id. An unknown one is `hv.not_found`; work on a
 * VM that another call holds is `hv.conflict`.
 */
export interface CheckpointAbilities {
  /** All checkpoints of a VM, oldest first, each looked up where it is kept. */
  list(id: string, signal: AbortSignal): Promise<CheckpointListing>;
  /**
   * Saves the VM as it is now and answers the checkpoint's id. Everything that prevents it is found before the guest
   * is paused. With `memory_state` the VM must run, and goes on running. `hv.unsupported` says what cannot be saved,
   * `hv.conflict` that the VM has a checkpoint of this name or is in the wrong state.
   */
  create(id: string, options: { name: string; memory_state: boolean }, scope: CallScope): Promise<string>;
  /**
   * Brings the VM into the checkpoint's state: running with its memory, or off. What happened since is lost. What
   * can be known to fail is found before that.
   */
  restore(id: string, checkpoint: string, scope: CallScope): Promise<void>;
  /** What a restore would lose. */
  losses(id: string, checkpoint: string, signal: AbortSignal): Promise<Loss[]>;
  /** Removes a checkpoint; its children hang on its parent afterwards. */
  remove(id: string, checkpoint: string, scope: CallScope): Promise<void>;
  /** Gives it another name; `hv.conflict` when another checkpoint of the VM has it. */
  rename(id: string, checkpoint: string, name: string, scope: CallScope): Promise<void>;
  /** Writes the checkpoint as files into a new folder, from which `import` makes a VM; `hv.conflict` when it exists. Answers the files. */
  export(id: string, checkpoint: string, folder: string, scope: CallScope): Promise<string[]>;
}
