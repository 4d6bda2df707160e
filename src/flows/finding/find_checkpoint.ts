/** From what the caller wrote to the checkpoint of a VM. */

import { HvError } from "../../base/errors.ts";
import { parseCheckpointId } from "../../base/ids.ts";
import { suggest } from "../../base/suggest.ts";
import type { Checkpoint } from "../../contract/checkpoint.ts";
import type { Vm } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import { abilityOf } from "../abilities.ts";

/**
 * Finds the checkpoint that an id, a bare uuid or an exact name refers to. Throws `hv.not_found` with the nearest
 * name, or `hv.ambiguous` with all ids when several bear the name.
 */
export async function findCheckpoint(
  driver: Driver,
  vm: Vm,
  reference: string,
  signal: AbortSignal,
): Promise<Checkpoint> {
  const { checkpoints, warnings } = await abilityOf(driver, "checkpoints").list(vm.id, signal);
  const id = parseCheckpointId(reference);
  const byId = checkpoints.find((checkpoint) => checkpoint.id === id);
  if (byId !== undefined) return byId;
  const [found, ...others] = checkpoints.filter(({ name }) => name === reference);
  if (found === undefined) {
    const near = suggest(reference, checkpoints.map(({ name }) => name));
    throw new HvError("hv.not_found", `The VM "${vm.name}" has no checkpoint "${reference}"`, {
      hint: near === undefined
        ? `List them with \`hvlab checkpoint list ${vm.id}\``
        : `Did you mean "${near}"?`,
      context: { vm: vm.id, checkpoint: reference, ...(warnings.length === 0 ? {} : { warnings }) },
    });
  }
  if (others.length === 0) return found;
  const ids = [found, ...others].map((checkpoint) => checkpoint.id);
  throw new HvError(
    "hv.ambiguous",
    `${ids.length} checkpoints of "${vm.name}" have the name "${reference}"`,
    {
      hint: "Use the id of the one that you mean",
      context: { vm: vm.id, checkpoint: reference, ids },
    },
  );
}

/** The id of a checkpoint to delete: one that is not whole any more can still be named by its id. */
export async function findCheckpointId(
  driver: Driver,
  vm: Vm,
  reference: string,
  signal: AbortSignal,
): Promise<string> {
  return parseCheckpointId(reference) ?? (await findCheckpoint(driver, vm, reference, signal)).id;
}
