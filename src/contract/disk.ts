/** Virtual disks: files that VMs write into, alone or as chains of differences. */

import * as z from "zod/mini";

/** Formats that hvlab reads; which of them can be made and changed is the driver's to say. */
export const DiskFormat = z.enum(["qcow2", "raw", "vhdx", "vhd", "vmdk"]);
export type DiskFormat = z.infer<typeof DiskFormat>;

/** `fixed` takes all of its space at once, `dynamic` grows, `differencing` holds what differs from its parent. */
export const DiskType = z.enum(["fixed", "dynamic", "differencing"]);
export type DiskType = z.infer<typeof DiskType>;

/** A size that a file claims: a number, or hexadecimal text with `0x` where no JSON number holds it. */
export const DiskSize = z.union([z.int(), z.string().check(z.regex(/^0x[0-9a-f]+$/))]);
export type DiskSize = z.infer<typeof DiskSize>;

/** A disk that another one holds the differences to, as the other one names it. */
export const DiskParent = z.object({
  /** As written in the child. */
  name: z.string(),
  /** The format that the child states; `null` when it states none. */
  format: z.nullable(z.string()),
});
export type DiskParent = z.infer<typeof DiskParent>;

/** One disk by its own header. What the header says is no proof of what lies behind it. */
export const Disk = z.object({
  path: z.string(),
  format: DiskFormat,
  type: DiskType,
  /** What a guest sees. */
  size_bytes: DiskSize,
  /** The file's length. */
  file_bytes: z.int(),
  /** What the file takes on this host's disk; `null` where that cannot be told. */
  allocated_bytes: z.nullable(z.int()),
  parent: z.nullable(DiskParent),
  /** Snapshots inside the file. */
  snapshots: z.optional(z.int()),
  encrypted: z.optional(z.boolean()),
  /** Whether the disk's own mark says that it is damaged. */
  marked_corrupt: z.optional(z.boolean()),
});
export type Disk = z.infer<typeof Disk>;

/** What can be wrong with a layer of a chain. */
export const ChainFault = z.enum([
  "missing",
  "mismatched",
  "changed",
  "looped",
  "untyped",
  "foreign_format",
  "wrong_format",
  "network",
  "system_file",
  "not_a_file",
  "unreadable",
  "too_deep",
]);
export type ChainFault = z.infer<typeof ChainFault>;

/** A layer of a chain; fields are `null` where it was not opened. */
export const DiskLayer = z.object({
  path: z.string(),
  format: z.nullable(z.string()),
  type: z.nullable(DiskType),
  size_bytes: z.nullable(DiskSize),
  file_bytes: z.nullable(z.int()),
  fault: z.optional(ChainFault),
  /** What is wrong with it, in one sentence. */
  problem: z.optional(z.string()),
});
export type DiskLayer = z.infer<typeof DiskLayer>;

/** What a disk check found. */
export const DiskCheck = z.object({
  path: z.string(),
  format: DiskFormat,
  sound: z.boolean(),
  /** `contents` when every table of the file was read, `headers` when its format has no more to check. */
  checked: z.enum(["contents", "headers"]),
  /** Errors that have lost or will lose data. */
  corruptions: z.int(),
  /** Space that belongs to nothing; harmless. */
  leaks: z.int(),
  problems: z.array(z.string()),
});
export type DiskCheck = z.infer<typeof DiskCheck>;

/** A disk of a VM. */
export const AttachedDisk = z.object({
  path: z.string(),
  format: z.nullable(z.string()),
  read_only: z.boolean(),
  /** Whether the machine has it now; a machine that is off has none. */
  attached: z.boolean(),
  /** Whether it has it at its next start. */
  at_next_start: z.boolean(),
  /** Where it is plugged in, while it is. */
  device: z.optional(z.string()),
});
export type AttachedDisk = z.infer<typeof AttachedDisk>;

/** What attach and detach answer: the VM's disks as they are now. */
export const DiskAttachment = z.object({
  vm: z.string(),
  path: z.string(),
  attached: z.boolean(),
  at_next_start: z.boolean(),
  disks: z.array(AttachedDisk),
});
export type DiskAttachment = z.infer<typeof DiskAttachment>;

/** A claimed size as it goes out. */
export function diskSize(bytes: bigint): DiskSize {
  return bytes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(bytes) : `0x${bytes.toString(16)}`;
}
