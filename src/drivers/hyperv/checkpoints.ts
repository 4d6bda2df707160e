/** Checkpoints on Hyper-V. */

import { startDeadline } from "../../base/deadline.ts";
import { HvError, toHvError } from "../../base/errors.ts";
import { uuidOf } from "../../base/ids.ts";
import type { Loss } from "../../contract/plan.ts";
import type { CheckpointAbilities } from "../checkpoint_abilities.ts";
import type { CallScope } from "../call_scope.ts";
import type { HyperV } from "./client.ts";
import { writeFolder } from "./copies/copies.ts";
import { writeExportRecord } from "./copies/export_record.ts";
import { checkpointOf } from "./map.ts";

/**
 * Codes after which the sidecar may have been cut off between setting a VM's kind of checkpoint and putting it back.
 */
const CUT_OFF = new Set(["hv.outcome_unknown", "hv.timeout", "hv.cancelled"]);
const PUT_BACK_LIMIT_MS = 30_000;

/** The checkpoints of this host's VMs. */
export function openCheckpoints(hyperv: HyperV): CheckpointAbilities {
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
      await hyperv.changeMachine("restore_checkpoint", id, { checkpoint: uuidOf(checkpoint) }, scope);
    },

    async losses(id, checkpoint, signal) {
      const { checkpoints, machine } = await hyperv.checkpoints(id, signal);
      const found = checkpoints.find((facts) => facts.id === uuidOf(checkpoint));
      if (found === undefined) {
        throw new HvError("hv.not_found", `The VM has no checkpoint "${checkpoint}"`, {
          hint: "List them with `hvlab checkpoint list`",
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

    async export(id, checkpoint, folder, scope) {
      return await writeFolder(hyperv, folder, scope, async () => {
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
