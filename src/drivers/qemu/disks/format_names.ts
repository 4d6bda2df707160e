/** Formats of disks in QEMU's words. */

import type { DiskFormat } from "../../../contract/disk.ts";

/** QEMU's own names of formats. */
const QEMU_NAMES: Readonly<Record<DiskFormat, string>> = {
  qcow2: "qcow2",
  raw: "raw",
  vhdx: "vhdx",
  vhd: "vpc",
  vmdk: "vmdk",
};

/** A format as QEMU calls it. */
export function qemuName(format: DiskFormat): string {
  return QEMU_NAMES[format];
}
