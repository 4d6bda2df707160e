/** The network cards of a VM as they are seen now, beside what its record keeps for its next start. */

import type { Nic } from "../../../contract/network.ts";
import type { NicLink } from "./netdevs.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import type { VmRecord } from "../records.ts";
import { readAddresses } from "./guest_addresses.ts";
import { type LiveNic, readLiveNics } from "./live_nics.ts";
import { recordedNics } from "./nic_records.ts";
import { linkOf } from "./segments.ts";
import { switchNames } from "./switches.ts";

/** All cards, those of the machine and those of the record. */
export async function listNics(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<{ nics: Nic[]; warnings: string[] }> {
  const names = await switchNames(context);
  const recorded = recordedNics(record);
  const live = await liveNics(context, record, signal);
  const addresses = live === undefined ? undefined : await readAddresses(context, record, signal);
  const numbers = [...new Set([...recorded, ...live ?? []].map(({ number }) => number))].sort((a, b) =>
    a - b
  );
  const nics = numbers.map((number): Nic => {
    const kept = recorded.find((nic) => nic.number === number);
    const seen = live?.find((nic) => nic.number === number);
    const now = seen === undefined ? undefined : nameOfLink(names, seen.link);
    const later = kept === undefined ? undefined : names.get(kept.switch ?? "") ?? null;
    const mac = seen?.mac ?? kept?.mac ?? null;
    return {
      id: nameOf(number),
      name: nameOf(number),
      vm: record.id,
      mac,
      switch: now === undefined ? later ?? null : now,
      ...(now === undefined || later === undefined || now === later ? {} : { switch_at_next_start: later }),
      now: seen !== undefined,
      next_start: kept !== undefined,
      addresses: addresses?.get(mac ?? "") ?? [],
    };
  });
  const isSilent = live !== undefined && nics.length > 0 && addresses === undefined;
  return { nics, warnings: isSilent ? ["No guest agent answers, so no address is known"] : [] };
}

/** The name of the switch that a link leads to; `null` for none. */
export function nameOfLink(names: ReadonlyMap<string, string>, link: NicLink | undefined): string | null {
  if (link === undefined) return null;
  const [, name = null] = [...names].find(([id]) => isSameLink(linkOf(id), link)) ?? [];
  return name;
}

/** Whether two links lead to the same place. */
export function isSameLink(one: NicLink | undefined, other: NicLink | undefined): boolean {
  if (one?.kind === "segment" && other?.kind === "segment") {
    return one.group === other.group && one.port === other.port;
  }
  if (one?.kind === "tap" && other?.kind === "tap") return one.name === other.name;
  return one?.kind === other?.kind;
}

/** The cards of a VM's machine, `undefined` without one. Throws when it cannot be asked. */
export async function liveNics(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<LiveNic[] | undefined> {
  if (!(await observe(context, record, signal)).alive) return undefined;
  return await new VmMonitor(context, record).ask(readLiveNics);
}

/** How a card is called, by users and by QEMU. */
export function nameOf(number: number): string {
  return `nic-${number}`;
}
