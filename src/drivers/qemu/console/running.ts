/** One request to the monitor of a VM that must be in some state for it. */

import { HvError } from "../../../base/errors.ts";
import type { VmState } from "../../../contract/vm.ts";
import { wayToRun } from "../../way_on.ts";
import type { QemuContext } from "../context.ts";
import { askMonitor } from "../monitor/monitors.ts";
import { observe, readRunState } from "../observe.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";
import { stateOf } from "../states.ts";

/** States of a machine whose process is there, whatever its processors do. */
export const MACHINE_IS_ON: readonly VmState[] = ["running", "paused", "crashed", "io_error"];

/** What is asked of a VM. */
export interface Question {
  /** What it is for, such as `press keys of`. */
  action: string;
  states: readonly VmState[];
  signal: AbortSignal;
}

/**
 * Looks at the VM and does one piece of work with its monitor, in one turn. Throws `hv.conflict` when it is in none of
 * the states, or no longer when the work fails.
 */
export async function askOnMachine<T extends object>(
  context: QemuContext,
  records: VmRecords,
  id: string,
  { action, states, signal }: Question,
  work: (session: QmpSession, record: VmRecord) => Promise<T>,
): Promise<T> {
  const record = await records.get(id);
  const answer = await askMonitor(context.host, id, new RuntimeFolder(record.runtime), async (session) => {
    const refuseOtherState = async (): Promise<void> => {
      const seen = await readRunState(session);
      const { state, reason } = stateOf(seen.status, seen);
      if (!states.includes(state)) throw wrongState(record, action, states, state, reason);
    };
    await refuseOtherState();
    try {
      return await work(session, record);
    } catch (error) {
      // The work itself may have stopped the machine, such as a key at which its kernel panics.
      if (error instanceof HvError && !signal.aborted) await refuseOtherState();
      throw error;
    }
  }, { signal });
  if (answer !== undefined) return answer;
  const { state, reason } = await observe(context, record, signal);
  throw wrongState(record, action, states, state, reason);
}

function wrongState(
  { id, name, adopted }: VmRecord,
  action: string,
  states: readonly VmState[],
  found: VmState,
  reason: string | undefined,
): HvError {
  const because = reason === undefined ? "" : `: ${reason}`;
  return new HvError(
    "hv.conflict",
    `Cannot ${action} "${name}": wanted "${states.join('" or "')}", found "${found}"${because}`,
    {
      hint: wayToRun({ id, state: found, adopted: adopted !== undefined }) ??
        `Look at it again in a moment: hvlab vm get ${id}`,
      context: { vm: id, wanted: states.join(" or "), found },
    },
  );
}
