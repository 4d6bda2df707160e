/** A VM's devices: those of its record, which it has from its next start on, and those of its machine. */

import type { Device } from "../../../contract/device.ts";
import { isPlainObject, parseJson } from "../../../base/json.ts";
import { DISK_NODE, DRIVE } from "../launch/block_words.ts";
import { hasDrive } from "../launch/boot_files.ts";
import { objectsIn, textIn } from "../monitor/answers.ts";
import { disksOf } from "../checkpoints/files.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { observe } from "../observe.ts";
import { deviceName } from "../disks/block_node.ts";
import { readLiveNics } from "../network/live_nics.ts";
import { nameOf, nameOfLink } from "../network/nic_list.ts";
import { recordedNics } from "../network/nic_records.ts";
import { switchNames } from "../network/switches.ts";
import { afterNextStart, type VmRecord } from "../records.ts";
import { kindOfChild, KINDS } from "./kinds.ts";
import { SECOND_SERIAL } from "./serial_socket.ts";
import { WATCHDOG } from "./watchdog.ts";

type Seen = Pick<Device, "id" | "kind" | "model" | "holds">;

const FOLDERS = ["/machine/peripheral", "/machine/peripheral-anon"] as const;
/** Kinds of which a machine has one, so that the kind is name enough. */
const SINGLE: Readonly<Record<string, string>> = { tpm: "tpm-0", crash_notifier: "crash-notifier-0" };
const SERIAL = { kind: "serial", model: "serial port (16550A)" } as const;

/** Everything that is plugged in, each device once. */
export async function listDevices(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<Device[]> {
  const live = await liveDevices(context, record, signal);
  const next = record.adopted === undefined ? await nextDevices(context, record) : [];
  const ids = [...new Set([...next, ...live ?? []].map(({ id }) => id))];
  return ids.flatMap((id): Device[] => {
    const now = live?.find((device) => device.id === id);
    const later = next.find((device) => device.id === id);
    const shown = now ?? later;
    if (shown === undefined) return [];
    const action = shown.kind === "watchdog" ? record.watchdog : undefined;
    const differs = now !== undefined && later !== undefined && now.holds !== later.holds;
    return [{
      ...shown,
      vm: record.id,
      ...(action === undefined ? {} : { action }),
      ...(differs ? { holds_at_next_start: later.holds ?? null } : {}),
      now: now !== undefined,
      next_start: later !== undefined,
    }];
  });
}

/** What the VM's next machine has. */
async function nextDevices(context: QemuContext, seen: VmRecord): Promise<Seen[]> {
  const record = afterNextStart(seen);
  const names = await switchNames(context);
  const known = (type: string, id: string, holds?: string | null): Seen[] => {
    const kind = KINDS[type];
    return kind === undefined ? [] : [{ id, ...kind, ...(holds === undefined ? {} : { holds }) }];
  };
  const own = (await disksOf(context, record.id)).filter(({ node }) => node === DISK_NODE);
  return [
    ...own.flatMap(({ path }) => known("virtio-blk-pci", "virtio-disk-0", path)),
    ...(record.disks ?? []).flatMap(({ key, path }) => known("virtio-blk-pci", deviceName(key), path)),
    ...(hasDrive(record) ? known("ide-cd", DRIVE, record.iso ?? null) : []),
    ...recordedNics(record).flatMap(({ number, switch: id = "" }) =>
      known("virtio-net-pci", nameOf(number), names.get(id) ?? null)
    ),
    { id: "serial-0", ...SERIAL, holds: "hvlab" },
    ...(record.serial_socket === undefined
      ? []
      : [{ id: SECOND_SERIAL, ...SERIAL, holds: record.serial_socket }]),
    ...(record.tpm ? known("tpm-tis", "tpm-0") : []),
    ...(record.watchdog === undefined ? [] : known("i6300esb", WATCHDOG)),
    ...known("vmgenid", "generation-0"),
    ...known("pvpanic-pci", "crash-notifier-0"),
  ];
}

/** What the VM's machine has; `undefined` without one. Throws when it cannot be asked. */
async function liveDevices(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<Seen[] | undefined> {
  if (!(await observe(context, record, signal)).alive) return undefined;
  const names = await switchNames(context);
  return await new VmMonitor(context, record).ask(async (session) => {
    const [blocks, nics, lines, ...folders] = await Promise.all([
      session.command("query-block"),
      readLiveNics(session),
      session.command("query-chardev"),
      ...FOLDERS.map((path) => session.command("qom-list", { path })),
    ]);
    const media = new Map(objectsIn(blocks).map((block) => [textIn(block, "qdev") ?? "", fileIn(block)]));
    const plugged = new Map(nics.map(({ number, link }) => [nameOf(number), nameOfLink(names, link)]));
    const devices = folders.flatMap(objectsIn).flatMap((entry): Seen[] => {
      const known = kindOfChild(entry.type);
      if (known === undefined) return [];
      const id = SINGLE[known.kind] ?? textIn(entry, "name") ?? known.kind;
      const holds = mediumOf(media, id) ?? plugged.get(id);
      const isEmpty = holds === undefined && (known.kind === "dvd" || known.kind === "nic");
      return [{ id, ...known, ...(holds === undefined ? isEmpty ? { holds: null } : {} : { holds }) }];
    });
    return [...devices, ...objectsIn(lines).flatMap(serialIn)];
  });
}

/** Block devices call themselves by their name or by their place among QEMU's objects. */
function mediumOf(media: ReadonlyMap<string, string | undefined>, id: string): string | undefined {
  return [...media].find(([place]) => place === id || place.includes(`/${id}/`))?.[1];
}

/** The file of a block device; one that QEMU writes as JSON stands inside. */
function fileIn(block: Record<string, unknown>): string | undefined {
  const inserted = isPlainObject(block.inserted) ? block.inserted : {};
  const name = textIn(inserted.image, "filename") ?? textIn(inserted, "file");
  if (name === undefined || !name.startsWith("json:")) return name;
  const described = parseJson(name.slice("json:".length));
  const file = isPlainObject(described) ? described.file : undefined;
  return textIn(file, "filename") ?? textIn(described, "filename") ?? name;
}

function serialIn(line: Record<string, unknown>): Seen[] {
  const label = textIn(line, "label");
  if (label === "serial-0") return [{ id: label, ...SERIAL, holds: "hvlab" }];
  if (label !== SECOND_SERIAL) return [];
  const [, path] = /unix:(.*?)(?:,server.*)?$/.exec(textIn(line, "filename") ?? "") ?? [];
  return [{ id: label, ...SERIAL, ...(path === undefined ? {} : { holds: path }) }];
}
