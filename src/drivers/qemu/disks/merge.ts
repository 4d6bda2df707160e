/**
 * Merging a differencing disk into its parent. The disk's bond says that a merge is under way, since from its first
 * byte on the parent is no longer what it was; the next merge of the same disk takes up one that was killed.
 */

import { HvError } from "../../../base/errors.ts";
import type { Disk } from "../../../contract/disk.ts";
import type { Loss } from "../../../contract/plan.ts";
import { refuseBroken } from "../../broken_chain.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { imageFolders } from "../images/images.ts";
import { takeVmLock, type VmLock } from "../vm_lock.ts";
import { readBond, removeBond, sweepBonds, takeFingerprint, writeBond } from "./bonds.ts";
import { describeDisk, readChain, readDisk, type SoundLayer } from "./chain.ts";
import { takeDiskLock } from "../../disk_lock.ts";
import { replaceDisk } from "./disk_records.ts";
import { tellQemuImg } from "./disk_program.ts";
import { qemuName } from "./format_names.ts";
import { mergeLive } from "./live_merge.ts";
import { isInside } from "./places.ts";
import { refuseStrangers, refuseUnreadable } from "./trust.ts";
import { refuseUnknownUsers } from "./unknown_users.ts";
import { type DiskVm, findChildren, findVms, ownerOf } from "./users.ts";

/** A disk that can be merged, with what it is merged into and the VM that has it. */
interface Merge {
  disk: SoundLayer;
  parent: SoundLayer;
  vm: DiskVm | undefined;
}

/** What a merge would lose. Throws what stands in its way. */
export async function lossesOfMerge(
  context: QemuContext,
  path: string,
  follows: boolean,
  signal: AbortSignal,
): Promise<{ parent: string; losses: Loss[] }> {
  const { disk, parent } = await findMerge(context, path, follows, signal);
  const facts = await context.host.files.stat(disk.path);
  const size = facts?.allocated_bytes ?? facts?.size_bytes ?? 0;
  const { snapshots } = disk.header;
  return {
    parent: parent.path,
    losses: [
      { what: "the differencing disk's file", path: disk.path, size_bytes: size },
      ...(snapshots === undefined ? [] : [{ what: `${snapshots} snapshots in it`, path: disk.path }]),
      { what: "what its parent holds now, where the disk differs", path: parent.path },
    ],
  };
}

/** Merges a disk at rest, or under the guest that runs with it. */
export async function mergeDisk(
  context: QemuContext,
  path: string,
  follows: boolean,
  scope: CallScope,
): Promise<{ disk: Disk; removed: string }> {
  const seen = await findMerge(context, path, follows, scope.signal);
  await using _vm = seen.vm === undefined ? undefined : await lockVm(context, seen.vm);
  await using _parent = await takeDiskLock(context, seen.parent.path);
  await using _disk = await takeDiskLock(context, seen.disk.path);
  const { disk, parent, vm } = await findMerge(context, path, follows, scope.signal);
  refuseOther(seen, { disk, parent, vm });
  await sweepBonds(context);
  const bond = await readBond(context, disk.path) ??
    { path: disk.path, parent: await takeFingerprint(context, parent.path, scope.signal) };
  await writeBond(context, { ...bond, merging: true });
  if (vm?.alive) await mergeLive(context, vm.record.id, disk, parent, scope);
  else {
    const words = ["commit", "-p", "-d", "-f", qemuName(disk.header.format), disk.path];
    await tellQemuImg(context, words, disk.path, scope, { shows: "Merging", written: parent.path });
    if (vm !== undefined) await replaceDisk(context, vm.record.id, disk.path, parent.path);
  }
  await context.host.files.remove(disk.path);
  await removeBond(context, disk.path);
  return { disk: await describeDisk(context, await readDisk(context, parent.path)), removed: disk.path };
}

async function findMerge(
  context: QemuContext,
  path: string,
  follows: boolean,
  signal: AbortSignal,
): Promise<Merge> {
  const chain = await readChain(context, path, signal, { goesOnMerging: true });
  refuseBroken(chain);
  refuseUnreadable(chain);
  await refuseStrangers(context, chain, follows);
  const [disk, parent] = chain.sound;
  if (disk === undefined || parent === undefined) {
    throw new HvError("hv.usage", `"${path}" leans on no other disk, so there is nothing to merge it into`, {
      hint: "See what a disk leans on with: hvlab disk chain PATH",
      context: { path },
    });
  }
  await refuseKept(context, disk, parent);
  const vms = [...await findVms(context, disk.path, signal), ...await findVms(context, parent.path, signal)]
    .filter(({ direct }) => direct);
  const [vm, ...others] = [...new Map(vms.map((one) => [one.record.id, one])).values()];
  if (others.length > 0) {
    refuse(
      disk,
      `several VMs have it: ${vms.map(({ record }) => record.name).join(", ")}`,
    );
  }
  await refuseUnknownUsers(context, parent.path, "merge into");
  return { disk, parent, vm };
}

async function refuseKept(context: QemuContext, disk: SoundLayer, parent: SoundLayer): Promise<void> {
  const isImage = [...imageFolders(context), context.state.templates]
    .some((folder) => isInside(folder, parent.path));
  if (isImage) refuse(disk, `its parent "${parent.path}" is an image's, which is never written`);
  const owner = ownerOf(context, disk.path) ?? ownerOf(context, parent.path);
  if (owner !== undefined) refuse(disk, `it is part of ${owner}`);
  const [child] = await findChildren(context, disk.path);
  if (child !== undefined) refuse(disk, `"${child}" leans on it`);
  const sibling = (await findChildren(context, parent.path)).find((other) => other !== disk.path);
  if (sibling !== undefined) refuse(disk, `"${sibling}" leans on the same parent`);
}

/** What was seen before the locks were held may have got another parent or VM meanwhile, whose locks are not held. */
function refuseOther(seen: Merge, now: Merge): void {
  if (now.parent.path === seen.parent.path && now.vm?.record.id === seen.vm?.record.id) return;
  throw new HvError("hv.conflict", `Cannot merge "${now.disk.path}": another call has changed who uses it`, {
    hint: "Look at the disk, then merge again",
    context: { path: now.disk.path, wanted: "unchanged", found: "changed" },
    retryable: true,
  });
}

async function lockVm(context: QemuContext, { record }: DiskVm): Promise<VmLock> {
  return await takeVmLock(context, record.id, "configuring", "idle");
}

function refuse({ path }: SoundLayer, why: string): never {
  throw new HvError("hv.conflict", `Cannot merge "${path}" into its parent: ${why}`, {
    hint: "Convert it into a disk of its own instead: hvlab disk convert PATH NEW",
    context: { path, wanted: "a parent of its own", found: why },
  });
}
