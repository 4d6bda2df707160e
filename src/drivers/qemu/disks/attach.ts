/**
 * Disks in VMs. What the machine has is seen in the machine; what its next start gives it is in its record. Attaching
 * changes the machine first, detaching the record first, so that no record ever names a disk that a running machine
 * lacks, wherever a call is killed.
 */

import { HvError } from "../../../base/errors.ts";
import { folderOf, joinPath, nameOf } from "../../../base/paths.ts";
import type { AttachedDisk } from "../../../contract/disk.ts";
import { quoteWord } from "../../../host/quote_word.ts";
import { refuseBroken } from "../../broken_chain.ts";
import type { CallScope } from "../../call_scope.ts";
import type { AttachmentWish } from "../../disk_abilities.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import { notSeen } from "../checkpoints/create.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { type Observation, observe } from "../observe.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { takeVmLock } from "../vm_lock.ts";
import { deviceName } from "./block_node.ts";
import { withDisk, withoutDisk } from "./disk_records.ts";
import { type ReadChain, readChain } from "./chain.ts";
import { takeDiskLock } from "../../disk_lock.ts";
import { attachedBlocks, plugIn, removeStrayNodes, unplug } from "./live.ts";
import { findDiskFile } from "./places.ts";
import { refuseStrangers, refuseUnreadable } from "./trust.ts";
import { findChildren, findVms, ownerOf, refuseStored, refuseWriters } from "./users.ts";

/** QEMU has 32 slots on its first bus, of which the machine itself uses about half. */
const DISK_LIMIT = 12;

/** A VM's attached disks: those that its machine has, and those that its record gives to its next start. */
export async function listAttached(
  context: QemuContext,
  records: VmRecords,
  id: string,
  signal: AbortSignal,
): Promise<AttachedDisk[]> {
  const record = await records.get(id);
  const seen = await observe(context, record, signal);
  const live = seen.status === undefined ? [] : await attachedBlocks(new VmMonitor(context, record));
  const stored = record.disks ?? [];
  return [
    ...live.map(({ key, path, format, readOnly }) => ({
      path,
      format,
      read_only: readOnly,
      attached: true,
      at_next_start: stored.some((disk) => disk.path === path),
      device: deviceName(key),
    })),
    ...stored.filter(({ path }) => !live.some((block) => block.path === path)).map(({ path, read_only }) => ({
      path,
      format: null,
      read_only: read_only ?? false,
      attached: false,
      at_next_start: true,
    })),
  ];
}

/** Plugs a disk in. One that is in already stays. */
export async function attachDisk(
  context: QemuContext,
  records: VmRecords,
  id: string,
  path: string,
  wish: AttachmentWish,
  scope: CallScope,
): Promise<string> {
  await records.get(id);
  const real = await findDiskFile(context, path);
  await using _vm = await takeVmLock(context, id, "configuring", "idle");
  await using _disk = await takeDiskLock(context, real);
  const record = await records.get(id);
  refuseAdopted(record, "attach a disk to");
  const seen = await observe(context, record, scope.signal);
  refuseUnfit(record, seen);
  const chain = await readUsable(context, real, wish.follow_parents ?? false, scope.signal);
  await refuseTaken(context, record, real, wish.read_only ?? false, scope.signal);
  const below = chain.sound.slice(1).map((layer) => layer.path);
  await refuseWriters(context, below, "attach what leans on");
  const stored = record.disks?.find((disk) => disk.path === real);
  const monitor = seen.alive ? new VmMonitor(context, record) : undefined;
  const live = monitor === undefined
    ? undefined
    : (await attachedBlocks(monitor)).find((block) => block.path === real);
  refuseOtherWish(record, real, live?.readOnly ?? (stored && (stored.read_only ?? false)), wish);
  if ((record.disks?.length ?? 0) >= DISK_LIMIT && stored === undefined) throw tooMany(record);
  const key = live?.key ?? stored?.key ?? crypto.randomUUID().slice(0, 8);
  if (monitor !== undefined && live === undefined) {
    scope.progress({ message: "Plugging the disk in" });
    await plugIn(monitor, key, chain.sound, wish.read_only ?? false);
  }
  await records.save(withDisk(await records.get(id), {
    key,
    path: real,
    ...(wish.read_only ? { read_only: true } : {}),
    ...(wish.follow_parents ? { follow_parents: true } : {}),
  }));
  return real;
}

/** Takes a disk out. */
export async function detachDisk(
  context: QemuContext,
  records: VmRecords,
  id: string,
  path: string,
  scope: CallScope,
): Promise<string> {
  await records.get(id);
  await using _vm = await takeVmLock(context, id, "configuring", "idle");
  const record = await records.get(id);
  refuseAdopted(record, "detach a disk of");
  const seen = await observe(context, record, scope.signal);
  refuseUnfit(record, seen);
  const monitor = seen.alive ? new VmMonitor(context, record) : undefined;
  // A call that was killed may have left the file open in a machine that has no disk of it any more.
  if (monitor !== undefined) await removeStrayNodes(monitor);
  const live = monitor === undefined ? [] : await attachedBlocks(monitor);
  const known = [...live, ...record.disks ?? []].map((disk) => disk.path);
  const real = await pathAmong(context, known, path);
  if (real === undefined) throw notAttached(record, path, known);
  const block = live.find((candidate) => candidate.path === real);
  if (block !== undefined) refuseStanding(record, seen);
  if (record.disks?.some((disk) => disk.path === real)) {
    await records.save(withoutDisk(await records.get(id), real));
  }
  if (monitor !== undefined && block !== undefined) await unplug(monitor, block, scope);
  return real;
}

/** A disk's chain for a machine to use. Throws `hv.bad_image`, `hv.policy_denied`, `hv.unsupported`. */
export async function readUsable(
  context: QemuContext,
  path: string,
  follows: boolean,
  signal: AbortSignal,
): Promise<ReadChain> {
  // While a merge has not ended, the disk holds all that its parent may or may not have.
  const chain = await readChain(context, path, signal, { goesOnMerging: true });
  refuseBroken(chain);
  refuseUnreadable(chain);
  await refuseStrangers(context, chain, follows);
  return chain;
}

/** The file may be gone: what was attached can be detached all the same. */
async function pathAmong(
  { host }: QemuContext,
  known: readonly string[],
  path: string,
): Promise<string | undefined> {
  if (known.includes(path)) return path;
  const isPresent = await host.files.stat(path, { follow: true }) !== undefined;
  const folder = folderOf(path);
  if (!isPresent && await host.files.stat(folder, { follow: true }) === undefined) return undefined;
  const real = isPresent
    ? await host.files.realPath(path)
    : joinPath(await host.files.realPath(folder), nameOf(path));
  return known.includes(real) ? real : undefined;
}

/** Memory that is saved fits only the machine with the disks that it had. */
function refuseUnfit(record: VmRecord, seen: Observation): void {
  if (seen.alive && seen.status === undefined) throw notSeen(record, seen);
  if (seen.state !== "saved" && record.saved === undefined) return;
  throw new HvError("hv.conflict", `Cannot change the disks of "${record.name}" while its memory is saved`, {
    hint: `Start it first: hvlab vm start ${record.id}`,
    context: { vm: record.id, wanted: "running or off", found: seen.state },
  });
}

/** A guest that stands still lets go of nothing. */
function refuseStanding({ id, name }: VmRecord, { state }: Observation): void {
  if (state === "running") return;
  throw new HvError("hv.conflict", `The guest of "${name}" cannot let go of the disk while it is ${state}`, {
    hint: state === "paused"
      ? `Let it go on first: hvlab vm resume ${id}`
      : `Cut its power first: hvlab vm stop ${id} --mode off`,
    context: { vm: id, wanted: "running or off", found: state },
  });
}

/** A disk that two machines write is lost, and so is one whose children someone still reads. */
async function refuseTaken(
  context: QemuContext,
  record: VmRecord,
  path: string,
  readOnly: boolean,
  signal: AbortSignal,
): Promise<void> {
  const refuse = (why: string, hint: string, facts: Record<string, string>): never => {
    throw new HvError("hv.conflict", `Cannot attach "${path}" to "${record.name}": ${why}`, {
      hint,
      context: { path, wanted: "not in use", found: "in use", ...facts },
    });
  };
  const owner = ownerOf(context, path);
  if (owner !== undefined) {
    refuse(`it belongs to ${owner}`, "Copy it first: hvlab disk convert", { vm: owner });
  }
  if (readOnly) return;
  refuseStored(context, path, "attach");
  const [child] = await findChildren(context, path);
  if (child !== undefined) {
    refuse(`"${child}" leans on it`, "Attach that one, or give --read-only", { child });
  }
  for (const { record: other } of await findVms(context, path, signal)) {
    if (other.id === record.id) continue;
    const shared = other.disks?.find((disk) => disk.path === path);
    if (shared?.read_only) continue;
    const hint = `Detach it there first: hvlab disk detach ${other.id} ${quoteWord(path)}`;
    refuse(`the VM "${other.name}" has it`, hint, { vm: other.id, name: other.name });
  }
}

function refuseOtherWish(
  record: VmRecord,
  path: string,
  readOnly: boolean | undefined,
  wish: AttachmentWish,
): void {
  if (readOnly === undefined || readOnly === (wish.read_only ?? false)) return;
  const found = readOnly ? "read-only" : "writable";
  throw new HvError("hv.conflict", `"${record.name}" has "${path}" already, ${found}`, {
    hint: "Detach it first",
    context: { vm: record.id, path, wanted: readOnly ? "writable" : "read-only", found },
  });
}

function tooMany({ id, name }: VmRecord): HvError {
  return new HvError("hv.conflict", `"${name}" has ${DISK_LIMIT} disks, which is as many as it can have`, {
    hint: "Detach one first",
    context: { vm: id, limit: DISK_LIMIT },
  });
}

function notAttached({ id, name }: VmRecord, path: string, known: readonly string[]): HvError {
  return new HvError("hv.not_found", `"${name}" has no disk "${path}"`, {
    hint: known.length === 0 ? "No disk is attached to it" : `It has ${known.join(", ")}`,
    context: { vm: id, path, known: [...known] },
  });
}
