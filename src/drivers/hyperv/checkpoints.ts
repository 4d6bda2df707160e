/** Checkpoints on Hyper-V. */

import { startDeadline } from "../../base/deadline.ts";
import { HvError, toHvError } from "../../base/errors.ts";
import { uuidOf } from "../../base/ids.ts";
import type { Loss } from "../../contract/plan.ts";
import type { StateFolder } from "../../state/layout.ts";
import type { CheckpointAbilities } from "../checkpoint_abilities.ts";
import type { CallScope } from "../call_scope.ts";
import type { HyperV } from "./client.ts";
import { writeFolder } from "./copies/copies.ts";
import { writeExportRecord } from "./copies/export_record.ts";
import { takeVmLock } from "./machines/locks.ts";
import { changeNotes } from "./machines/notes.ts";
import { copyTag } from "./machines/tag.ts";
import { checkpointOf, type MachineFacts } from "./map.ts";
import { readForwards, writeForwards } from "./network/forward_marks.ts";

/**
 * Codes after which the sidecar may have been cut off between setting a VM's kind of checkpoint and putting it back.
 */
const CUT_OFF = new Set(["hv.outcome_unknown", "hv.timeout", "hv.cancelled"]);
const PUT_BACK_LIMIT_MS = 30_000;

/** The checkpoints of this host's VMs. One call at a time sets a VM's kind of checkpoint, and so makes or restores one. */
export function openCheckpoints(hyperv: HyperV, state: StateFolder): CheckpointAbilities {
  return {
    async list(id, signal) {
      const { checkpoints, machine } = await hyperv.checkpoints(id, signal);
      const all = checkpoints.map((facts) => checkpointOf(facts, machine));
      return {
        checkpoints: all.sort((one, other) => one.created_at.localeCompare(other.created_at)),
        warnings: [],
      };
    },

    async create(id, options, scope) {
      using _kind = await takeVmLock(hyperv, state, id, "checkpoints", scope.signal);
      const { checkpoint_type: usual } = await hyperv.getMachine(id, scope.signal);
      try {
        const made = await hyperv.changeCheckpoint("make_checkpoint", id, options, scope);
        return `ckpt-${made.id}`;
      } catch (error) {
        if (CUT_OFF.has(toHvError(error).code)) await putTypeBack(hyperv, id, usual, scope);
        throw error;
      }
    },

    async restore(id, checkpoint, scope) {
      using _kind = await takeVmLock(hyperv, state, id, "checkpoints", scope.signal);
      const before = await hyperv.getMachine(id, scope.signal);
      const args = { checkpoint: uuidOf(checkpoint) };
      const restoring = hyperv.changeMachine("restore_checkpoint", id, args, scope);
      const after = await restoring.catch(() => undefined);
      await putBack(hyperv, state, before, after, scope);
      await restoring;
    },

    async losses(id, checkpoint, signal) {
      const { checkpoints, machine } = await hyperv.checkpoints(id, signal);
      const found = checkpoints.find((facts) => facts.id === uuidOf(checkpoint));
      if (found === undefined) {
        throw new HvError("hv.not_found", `The VM has no checkpoint "${checkpoint}"`, {
          hint: `List them with \`hvlab checkpoint list ${id}\``,
          context: { vm: id, checkpoint },
        });
      }
      const losses: Loss[] = [{
        what: `what the disks of "${machine.name}" hold now and no checkpoint holds`,
      }];
      if (machine.state !== "Off") losses.push({ what: `the memory of "${machine.name}" as it is now` });
      return losses;
    },

    async remove(id, checkpoint, scope) {
      await hyperv.changeMachine("remove_checkpoint", id, { checkpoint: uuidOf(checkpoint) }, scope);
    },

    async rename(id, checkpoint, name, scope) {
      const args = { checkpoint: uuidOf(checkpoint), name };
      await hyperv.changeCheckpoint("rename_checkpoint", id, args, scope);
    },

    async export(id, checkpoint, wanted, scope) {
      return await writeFolder(hyperv, wanted, scope, async (folder) => {
        const { name } = await hyperv.getMachine(id, scope.signal);
        const { files, checkpoint: seen, memory_startup, cpus } = await hyperv.exportCheckpoint(
          id,
          checkpoint,
          folder,
          scope,
        );
        const machine = { name, memory_startup, cpus };
        return await writeExportRecord(
          hyperv.host,
          folder,
          { machine, files, keeps_memory: seen.memory_state },
          scope,
        );
      });
    },
  };
}

/**
 * A checkpoint brings back all settings of its time: the kind of checkpoint, which was set for its making, and the
 * notes. Restoring it makes no VM hvlab's nor anybody else's, and changes no kind. What a failed call has done is unknown.
 */
async function putBack(
  hyperv: HyperV,
  state: StateFolder,
  { id: uuid, checkpoint_type: usual, notes }: MachineFacts,
  after: MachineFacts | undefined,
  scope: CallScope,
): Promise<void> {
  const id = `vm-${uuid}`;
  if (after?.checkpoint_type !== usual) await putTypeBack(hyperv, id, usual, scope);
  if (after === undefined || marksOf(notes, after.notes) !== after.notes) {
    await putMarkBack(hyperv, state, id, notes, scope);
  }
}

/** Notes with the marks of others: whose the VM is, and which ports of the host lead to it, which no restore changes. */
function marksOf(others: string, notes: string): string {
  return writeForwards(copyTag(notes, others), readForwards(others));
}

async function putMarkBack(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  before: string,
  scope: CallScope,
): Promise<void> {
  using limit = startDeadline(hyperv.host.clock, PUT_BACK_LIMIT_MS);
  try {
    await changeNotes(hyperv, state, id, (notes) => marksOf(before, notes), {
      ...scope,
      signal: limit.signal,
    });
  } catch (error) {
    scope.warn?.(`hvlab's mark in the VM's notes could not be put back: ${toHvError(error).message}`);
  }
}

async function putTypeBack(hyperv: HyperV, id: string, kind: string, scope: CallScope): Promise<void> {
  using limit = startDeadline(hyperv.host.clock, PUT_BACK_LIMIT_MS);
  try {
    await hyperv.changeMachine("reset_checkpoint_type", id, { kind }, limit);
  } catch (error) {
    scope.warn?.(
      `The VM's kind of checkpoint could not be put back to "${kind}": ${toHvError(error).message}`,
    );
  }
}
