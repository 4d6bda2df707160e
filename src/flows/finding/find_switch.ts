/** From what the caller wrote to the switch or the network card that it names, observed now. */

import { HvError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import { DEFAULT_SWITCH, type Nic, type Switch } from "../../contract/network.ts";
import type { Vm } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { CallScope } from "../../drivers/call_scope.ts";
import { abilityOf } from "../abilities.ts";

/**
 * The switch of this id or exact name; `default` is the built-in one, whatever it is called. Throws `hv.not_found`, or
 * `hv.ambiguous` when several have the name.
 */
export async function findSwitch(driver: Driver, reference: string, signal: AbortSignal): Promise<Switch> {
  const all = await abilityOf(driver, "switches").list(signal);
  const byId = all.find(({ id }) => id === reference);
  if (byId !== undefined) return byId;
  const named = all.filter(({ name }) => name === reference);
  const fallback = reference === DEFAULT_SWITCH ? all.find(({ builtin }) => builtin) : undefined;
  const [found = fallback, ...others] = named;
  if (others.length > 0) {
    throw new HvError("hv.ambiguous", `${named.length} switches have the name "${reference}"`, {
      hint: "Use the id of the one that you mean",
      context: { switch: reference, ids: named.map(({ id }) => id) },
    });
  }
  if (found !== undefined) return found;
  const known = all.map(({ name }) => name);
  throw notThere(`There is no switch "${reference}"`, reference, known, "Switches are", {
    switch: reference,
  });
}

/** A VM's network card of this id or exact name, among the cards that it has now or at its next start. */
export async function findNic(
  driver: Driver,
  vm: Vm,
  reference: string,
  { signal, warn }: Pick<CallScope, "signal" | "warn">,
): Promise<Nic> {
  const { nics, warnings } = await abilityOf(driver, "nics").list(vm.id, signal);
  for (const warning of warnings) warn?.(warning);
  const byId = nics.find(({ id }) => id === reference);
  if (byId !== undefined) return byId;
  const [found, ...others] = nics.filter(({ name }) => name === reference);
  if (others.length > 0) {
    throw new HvError("hv.ambiguous", `${others.length + 1} network cards have the name "${reference}"`, {
      hint: "Use the id of the one that you mean",
      context: { vm: vm.id, nic: reference, ids: [found, ...others].flatMap((nic) => nic?.id ?? []) },
    });
  }
  if (found !== undefined) return found;
  const known = nics.map(({ id }) => id);
  const facts = { vm: vm.id, nic: reference };
  throw notThere(`"${vm.name}" has no network card "${reference}"`, reference, known, "It has", facts);
}

function notThere(
  message: string,
  reference: string,
  known: readonly string[],
  lead: string,
  facts: Record<string, string>,
): HvError {
  const near = suggest(reference, known);
  const list = known.length === 0 ? "There is none" : `${lead} ${known.join(", ")}`;
  return new HvError("hv.not_found", message, {
    hint: near === undefined ? list : `Did you mean "${near}"?`,
    context: { ...facts, known: [...known] },
  });
}
