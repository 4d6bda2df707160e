/** What hvlab left behind, found by record, folder and process. Changes nothing. */

import type { Orphan } from "../../../contract/vm.ts";
import type { QemuContext } from "../context.ts";
import { isOfState, ProcessView } from "../identity.ts";
import type { RecordListing, VmRecords } from "../records.ts";
import type { Sandboxes } from "../sandboxes.ts";
import { endedSandbox, isAbandoned, strayFolder } from "./folders.ts";
import { strayHelpers } from "./helpers.ts";
import { deadKeeper } from "./keeper_note.ts";
import { strayProcess, strayRuntimeFolders } from "./machines.ts";
import { strayMemory } from "./memory.ts";

/** Finds everything of this state folder that no VM needs. Changes nothing. */
export async function findOrphans(
  context: QemuContext,
  records: VmRecords,
  sandboxes: Sandboxes,
): Promise<Orphan[]> {
  const listing = await records.list();
  const processes = (await new ProcessView(context).all()).filter((process) => isOfState(context, process));
  const found: Orphan[] = [];
  for (const record of listing.records) {
    const ended = await sandboxes.whyEnded(record);
    if (ended !== undefined) found.push(await endedSandbox(context, record, ended, processes));
  }
  for (const folder of [...listing.damaged, ...listing.unfinished]) {
    if (await isAbandoned(context, folder)) found.push(await strayFolder(context, folder, processes));
  }
  for (const record of listing.records) found.push(...await strayMemory(context, record));
  found.push(...await strayHelpers(context, listing, processes));
  const known = knownIds(listing);
  const strays = processes.filter(({ id }) => !known.has(id));
  for (const process of strays) found.push(await strayProcess(context, process));
  for (const process of strays) known.add(process.id);
  found.push(...await strayRuntimeFolders(context, known), ...await deadKeeper(context));
  return found;
}

/** The VMs that have a record, be it a damaged one. */
export function knownIds({ records, damaged }: RecordListing): Set<string> {
  return new Set([...records.map(({ id }) => id), ...damaged.map(({ name }) => name)]);
}
