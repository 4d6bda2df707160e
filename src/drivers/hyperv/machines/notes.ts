/**
 * Changing a VM's notes, where hvlab's marks stand beside the user's text. Everybody reads them whole and writes them
 * whole, so a change is made under the VM's lock, of the notes as they are then, and they are read back.
 */

import { HvError } from "../../../base/errors.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { HyperV } from "../client.ts";
import type { MachineFacts } from "../map.ts";
import { takeVmLock } from "./locks.ts";

/** How the operations say that the notes are not what was read: somebody with another state folder changed them. */
const CHANGED = "notes_changed";
/** People change notes now and then, not all the time. */
const ATTEMPTS = 4;

/** What an operation that writes notes is given: the new ones, and those that they replace. */
export interface NotesChange {
  notes: string;
  was: string;
}

/**
 * Gives a change of a VM that is made of its notes the VM as it is under the VM's lock. The operation in it gets the
 * notes that were read; where they are others by then, the whole change is made again.
 */
export async function changeWithNotes<T>(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  change: (machine: MachineFacts) => Promise<T>,
  scope: CallScope,
): Promise<T> {
  using _vm = await takeVmLock(hyperv, state, id, "notes", scope.signal);
  for (let attempt = 1;; attempt++) {
    try {
      return await change(await hyperv.getMachine(id, scope.signal));
    } catch (error) {
      const isOver = attempt === ATTEMPTS || !(error instanceof HvError) || error.context.reason !== CHANGED;
      if (isOver) throw error;
    }
  }
}

/** Changes a VM's notes and nothing else. */
export async function changeNotes(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  edit: (notes: string) => string,
  scope: CallScope,
): Promise<void> {
  await changeWithNotes(hyperv, state, id, async ({ notes: was }) => {
    const notes = edit(was);
    if (notes !== was) await hyperv.changeMachine("set_machine", id, { notes, was }, scope);
  }, scope);
}
