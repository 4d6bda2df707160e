/** A machine's disks, discs and firmware as words of QEMU's argument vector. */

import type { JsonObject } from "../../../base/json.ts";
import { blockDevice, diskPort } from "../disks/block_node.ts";
import type { AttachedDrive, Boot, Drive, MachinePlan, UefiFiles } from "./machine_plan.ts";
import { device } from "./words.ts";

/** The block node of a VM's disk. */
export const DISK_NODE = "disk-0";
/** The block node of a VM's UEFI variables. */
export const VARIABLES_NODE = "uefi-variables";
/** The block node of the firmware's program. */
export const CODE_NODE = "uefi-code";
/** The block node of the disc in a VM's drive. */
export const DISC_NODE = "disc-0";
/** The block node of a VM's seed for cloud-init. */
const SEED_NODE = "seed-0";
/** The name of a VM's drive. */
export const DRIVE = "disc-drive-0";
/** Numbers of the ports of attached disks, beyond those of all others. */
const DISK_CHASSIS = 64;

/** The firmware and its variables as the machine's flash. */
export function firmwareWords({ code, variables, secure }: UefiFiles): string[] {
  const program = {
    "driver": "raw",
    "node-name": CODE_NODE,
    "read-only": true,
    "file": fileNode(code, true),
  };
  const store = { "driver": "qcow2", "node-name": VARIABLES_NODE, "file": fileNode(variables, false) };
  return [
    ...["-blockdev", JSON.stringify(program), "-blockdev", JSON.stringify(store)],
    ...(secure ? ["-global", "driver=cfi.pflash01,property=secure,value=on"] : []),
  ];
}

function fileNode(filename: string, readOnly: boolean): JsonObject {
  return { driver: "file", filename, ...(readOnly ? { "read-only": true } : {}) };
}

/** What the machine starts from. */
export function bootWords(boot: Boot): string[] {
  switch (boot.kind) {
    case "kernel":
      return [
        ...["-kernel", boot.kernel],
        ...(boot.initrd === undefined ? [] : ["-initrd", boot.initrd]),
        ...(boot.append === undefined || boot.append === "" ? [] : ["-append", boot.append]),
        // The kernel itself takes the first place in the order of boot devices.
        ...(boot.disk === undefined ? [] : disk(boot.disk, "")),
      ];
    case "disk":
      return disk(boot, ",bootindex=0");
    case "nothing":
      return [];
  }
}

function disk({ path, format }: Drive, order: string): string[] {
  // As JSON the path needs no escaping at all.
  const node = {
    "driver": format,
    "node-name": DISK_NODE,
    "discard": "unmap",
    "file": { driver: "file", filename: path, discard: "unmap" },
  };
  return [
    ...["-blockdev", JSON.stringify(node)],
    // A guest whose disk fails stands still and goes on when it is told to, in place of losing what it wrote.
    ...device(`virtio-blk-pci,id=virtio-disk-0,drive=${DISK_NODE},werror=stop,rerror=stop${order}`),
  ];
}

/** A disk that cannot be booted is passed over, so that a disc in the drive serves to install onto a blank one. */
export function driveWords(path: string | undefined): string[] {
  const disc = path === undefined ? [] : ["-blockdev", JSON.stringify(discNode(path))];
  const holds = path === undefined ? "" : `,drive=${DISC_NODE}`;
  return [...disc, ...device(`ide-cd,id=${DRIVE},bus=ide.0${holds},bootindex=1`)];
}

/** The block node of a disc: read as it is, whatever its name looks like. */
export function discNode(path: string): JsonObject {
  return { "driver": "raw", "node-name": DISC_NODE, "read-only": true, "file": fileNode(path, true) };
}

/** A disk like any other to the guest, which needs no driver for discs then. */
export function seedWords(path: string): string[] {
  const node = { "driver": "raw", "node-name": SEED_NODE, "read-only": true, "file": fileNode(path, true) };
  return [
    ...["-blockdev", JSON.stringify(node)],
    ...device(`virtio-blk-pci,id=seed-disk,drive=${SEED_NODE}`),
  ];
}

/** Each has a port of its own unless told otherwise, so that it can be taken out while the machine runs. */
export function attachedDisksWords(
  { disks = [], diskPorts: ports = disks.map(({ key }) => diskPort(key)) }: MachinePlan,
): string[] {
  return [
    ...ports.flatMap((port, index) => device(`pcie-root-port,id=${port},chassis=${DISK_CHASSIS + index}`)),
    ...disks.flatMap(attachedDiskWords),
  ];
}

function attachedDiskWords({ key, node, port = diskPort(key) }: AttachedDrive): string[] {
  return ["-blockdev", JSON.stringify(node), ...device(JSON.stringify(blockDevice(key, port)))];
}
