/** Changing what a VM is given, and what it is called. */

import type { VmChange } from "../../contract/vm.ts";
import type { CallScope } from "../call_scope.ts";
import type { ConfigureAbilities } from "../vm_extras.ts";
import { refuseAdopted } from "./adoption/refuse.ts";
import type { QemuContext } from "./context.ts";
import { refuseTakenName, takeNames } from "./creation.ts";
import { observe } from "./observe.ts";
import { afterNextStart, type VmRecords } from "./records.ts";
import { takeVmLock } from "./vm_lock.ts";

const FIELDS = ["memory_mb", "cpus"] as const;

/** Configure and rename of the QEMU driver. */
export function openConfigure(context: QemuContext, records: VmRecords): ConfigureAbilities {
  return {
    configure: (id, change, scope) => configureVm(context, records, id, change, scope),
    rename: (id, name, scope) => renameVm(context, records, id, name, scope),
  };
}

/**
 * A machine that lives, or whose memory is saved, keeps its size: QEMU could only change it with parts that the
 * machine would have to have had from its start.
 */
async function configureVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  change: VmChange,
  { signal }: CallScope,
): Promise<{ now: string[]; at_next_start: string[] }> {
  await records.get(id);
  await using _lock = await takeVmLock(context, id, "configuring", "idle");
  const stored = await records.get(id);
  refuseAdopted(stored, "configure");
  const { alive, state } = await observe(context, stored, signal);
  const boots = !alive && state !== "saved";
  const record = boots ? afterNextStart(stored) : stored;
  const later = { ...record.at_next_start };
  const now: string[] = [];
  const atNextStart: string[] = [];
  for (const field of FIELDS) {
    const wanted = change[field];
    if (wanted === undefined) continue;
    if (boots) record[field] = wanted;
    if (record[field] === wanted) {
      delete later[field];
      now.push(field);
    } else {
      later[field] = wanted;
      atNextStart.push(field);
    }
  }
  const { at_next_start: _, ...rest } = record;
  await records.save(Object.keys(later).length === 0 ? rest : { ...rest, at_next_start: later });
  return { now, at_next_start: atNextStart };
}

/** The name that a running QEMU was given stays in its title until its next start; nothing goes by it. */
async function renameVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  name: string,
  { signal, warn }: CallScope,
): Promise<void> {
  await records.get(id);
  await using _lock = await takeVmLock(context, id, "configuring", "idle");
  const record = await records.get(id);
  if (record.name === name) return;
  using _names = await takeNames(context, signal);
  await refuseTakenName(records, name, { except: id, warn });
  await records.save({ ...record, name });
}
