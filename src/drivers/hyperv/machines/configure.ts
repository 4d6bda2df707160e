/** Changing a VM's size and name. */

import { HvError } from "../../../base/errors.ts";
import type { VmChange } from "../../../contract/vm.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { HyperV } from "../client.ts";
import { type MachineFacts, vmOf } from "../map.ts";
import { refuseTakenName, takeNames } from "./names.ts";
import { changeWithNotes } from "./notes.ts";
import { readNext, writeNext } from "./tag.ts";

const BYTES_PER_MIB = 1024 * 1024;

/** Changes a VM that is off at once; what another one cannot take now waits in its notes for its next start. */
export async function configureVm(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  change: VmChange,
  scope: CallScope,
): Promise<{ now: string[]; at_next_start: string[] }> {
  const { memory_mb } = change;
  if (memory_mb !== undefined && memory_mb % 2 !== 0) {
    throw new HvError("hv.usage", `Hyper-V gives no VM ${memory_mb} MiB: wanted an even number`, {
      hint: "Change --memory",
      context: { vm: id, memory_mb },
    });
  }
  return await changeWithNotes(
    hyperv,
    state,
    id,
    (machine) => changeSize(hyperv, id, machine, change, scope),
    scope,
  );
}

async function changeSize(
  hyperv: HyperV,
  id: string,
  machine: MachineFacts,
  change: VmChange,
  scope: CallScope,
): Promise<{ now: string[]; at_next_start: string[] }> {
  if (machine.state === "Off") {
    await applyChange(hyperv, id, machine, { ...readNext(machine.notes), ...change }, scope);
    return { now: Object.keys(change), at_next_start: [] };
  }
  const seen = vmOf(machine, false);
  const waiting = { ...readNext(machine.notes), ...change };
  const now: string[] = [];
  for (const field of ["memory_mb", "cpus"] as const) {
    if (waiting[field] !== seen[field]) continue;
    delete waiting[field];
    if (change[field] !== undefined) now.push(field);
  }
  const notes = writeNext(machine.notes, waiting);
  await hyperv.changeMachine("set_machine", id, { notes, was: machine.notes }, scope);
  return { now, at_next_start: Object.keys(waiting) };
}

/** Gives a VM that is off what waits for its start. */
export async function applyWaiting(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  scope: CallScope,
): Promise<void> {
  if (!isWaiting(await hyperv.getMachine(id, scope.signal))) return;
  await changeWithNotes(hyperv, state, id, async (machine) => {
    if (isWaiting(machine)) await applyChange(hyperv, id, machine, readNext(machine.notes), scope);
  }, scope);
}

/** Whether a VM is off and has something to get before it starts. */
function isWaiting({ state, notes }: MachineFacts): boolean {
  return state === "Off" && Object.keys(readNext(notes)).length > 0;
}

async function applyChange(
  hyperv: HyperV,
  id: string,
  { notes }: MachineFacts,
  { memory_mb, cpus }: VmChange,
  scope: CallScope,
): Promise<void> {
  const args = {
    memory_bytes: memory_mb === undefined ? null : String(memory_mb * BYTES_PER_MIB),
    cpus: cpus ?? null,
    notes: writeNext(notes, {}),
    was: notes,
  };
  await hyperv.changeMachine("set_machine", id, args, scope);
}

/** Gives a VM another name; its folder keeps its own. */
export async function renameVm(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  name: string,
  scope: CallScope,
): Promise<void> {
  using _names = await takeNames(hyperv, state, scope.signal);
  await refuseTakenName(hyperv, name, scope.signal, id);
  await hyperv.changeMachine("rename_machine", id, { name }, scope);
}
