/** Attached disks in a VM's record. */

import type { QemuContext } from "../context.ts";
import { type VmRecord, VmRecords } from "../records.ts";

/** A disk that a VM gets at each start. */
export type DiskRecord = NonNullable<VmRecord["disks"]>[number];

/** The record with a disk in it, in the place of one with the same path. */
export function withDisk(record: VmRecord, disk: DiskRecord): VmRecord {
  const others = (record.disks ?? []).filter(({ path }) => path !== disk.path);
  return { ...record, disks: [...others, disk] };
}

/** The record without a disk. */
export function withoutDisk(record: VmRecord, path: string): VmRecord {
  const { disks = [], ...rest } = record;
  const left = disks.filter((disk) => disk.path !== path);
  return left.length === 0 ? rest : { ...rest, disks: left };
}

/** Gives a VM another disk in the place of one, if its record names that. */
export async function replaceDisk(
  context: QemuContext,
  id: string,
  old: string,
  other: string,
): Promise<void> {
  const records = new VmRecords(context);
  const record = await records.get(id);
  if (record.disks?.some(({ path }) => path === old) !== true) return;
  const disks = record.disks.map((one) => one.path === old ? { ...one, path: other } : one);
  await records.save({ ...record, disks });
}
