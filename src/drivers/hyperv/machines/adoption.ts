/** VMs that somebody else made: hvlab's mark is put into their notes, and taken out again. */

import { HvError } from "../../../base/errors.ts";
import { parseVmId } from "../../../base/ids.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { AdoptionAbilities, AdoptionWish } from "../../vm_extras.ts";
import type { HyperV } from "../client.ts";
import type { MachineFacts } from "../map.ts";
import { refuseTakenName, takeNames } from "./names.ts";
import { changeNotes } from "./notes.ts";
import { putTag, readTag, removeTag } from "./tag.ts";

/** Adopting and forgetting VMs of this host. */
export function openAdoption(hyperv: HyperV, state: StateFolder): AdoptionAbilities {
  return {
    adopt: (wish, scope) => adoptVm(hyperv, state, wish, scope),
    forget: (id, scope) => forgetVm(hyperv, state, id, scope),
  };
}

/**
 * Marks a foreign VM, which its id or exact name finds, whatever its state. Adopting it again changes nothing but its
 * name.
 */
async function adoptVm(
  hyperv: HyperV,
  state: StateFolder,
  { locator, name, allow }: AdoptionWish,
  scope: CallScope,
): Promise<string> {
  using _names = await takeNames(hyperv, state, scope.signal);
  const machine = await findForeign(hyperv, locator, scope.signal);
  const id = `vm-${machine.id}`;
  const tag = readTag(machine.notes);
  if (tag !== undefined && tag.adopted !== true) {
    throw new HvError("hv.conflict", `"${machine.name}" is hvlab's own VM`, {
      hint: "It needs no adoption",
      context: { vm: id, wanted: "a foreign VM", found: "one of hvlab's" },
    });
  }
  allow?.({ id, name: machine.name });
  await refuseTakenName(hyperv, name ?? machine.name, scope.signal, id);
  if (tag === undefined) {
    const created_at = new Date(hyperv.host.clock.now()).toISOString();
    const mark = { key: `hvlab-${crypto.randomUUID()}`, created_at, making: false, adopted: true };
    await changeNotes(hyperv, state, id, (notes) => putTag(notes, mark), scope);
  }
  if (name !== undefined && name !== machine.name) {
    await hyperv.changeMachine("rename_machine", id, { name }, scope);
  }
  return id;
}

/** The VM that is meant. */
async function findForeign(hyperv: HyperV, locator: string, signal: AbortSignal): Promise<MachineFacts> {
  const { machines } = await hyperv.listMachines(signal);
  const id = parseVmId(locator);
  const found = machines.filter((machine) =>
    id === undefined ? machine.name === locator : `vm-${machine.id}` === id
  );
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    throw new HvError("hv.not_found", `There is no VM "${locator}"`, {
      hint: "List the VMs with `hvlab vm list`",
      context: { vm: locator },
    });
  }
  throw new HvError("hv.ambiguous", `${found.length} VMs have the name "${locator}"`, {
    hint: "Use an id",
    context: { vm: locator, ids: found.map((machine) => `vm-${machine.id}`) },
  });
}

/** Takes the mark off an adopted VM; the VM itself goes on as it is. */
export async function forgetVm(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  scope: CallScope,
): Promise<void> {
  const { notes, name } = await hyperv.getMachine(id, scope.signal);
  if (readTag(notes)?.adopted !== true) {
    throw new HvError("hv.unsupported", `"${name}" was not adopted`, {
      hint: `Delete it with \`hvlab vm delete ${id}\``,
      context: { vm: id },
    });
  }
  await changeNotes(hyperv, state, id, removeTag, scope);
}
