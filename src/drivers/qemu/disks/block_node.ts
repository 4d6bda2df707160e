/** A chain of disks as QEMU's block nodes, each named and typed: QEMU then believes no header about what lies below. */

import type { JsonObject } from "../../../base/json.ts";
import type { SoundLayer } from "./chain.ts";
import { qemuName } from "./format_names.ts";

/** Block nodes and devices of attached disks; no other has such a name. */
export const NODE_PREFIX = "hvdisk-";
const DEVICE_PREFIX = "attached-";
const PORT_PREFIX = "disk-port-";
/** Formats whose nodes must be told that nothing lies below them. */
const CAN_LEAN: ReadonlySet<string> = new Set(["qcow2", "vmdk"]);

/** The name of the node of an attached disk's layer; 0 is the disk itself. */
export function nodeName(key: string, depth = 0): string {
  return depth === 0 ? `${NODE_PREFIX}${key}` : `${NODE_PREFIX}${key}-${depth}`;
}

/** The layer that a node is, counted from the disk that was attached: after a merge a machine's disk is a deeper one. */
export function depthOf(node: string): number {
  return Number(/^hvdisk-[0-9a-f]{8}-(\d+)$/.exec(node)?.[1] ?? 0);
}

/** The name of an attached disk's device. */
export function deviceName(key: string): string {
  return `${DEVICE_PREFIX}${key}`;
}

/** The name of the port that an attached disk gets at a boot. */
export function diskPort(key: string): string {
  return `${PORT_PREFIX}${key}`;
}

/** Whether a port is one that some attached disk got at a boot. */
export function isDiskPort(name: string): boolean {
  return name.startsWith(PORT_PREFIX);
}

/** The key in a device's name; `undefined` for a device that is no attached disk. */
export function keyOfDevice(device: string): string | undefined {
  return device.startsWith(DEVICE_PREFIX) ? device.slice(DEVICE_PREFIX.length) : undefined;
}

/** The nodes of a whole chain, one within the other. */
export function blockNode(
  key: string,
  layers: readonly SoundLayer[],
  readOnly: boolean,
  depth = 0,
): JsonObject {
  const [layer, ...below] = layers;
  if (layer === undefined) return {};
  const { format } = layer.header;
  return {
    "driver": qemuName(format),
    "node-name": nodeName(key, depth),
    "read-only": readOnly,
    ...(depth === 0 ? { discard: "unmap" } : {}),
    "file": { driver: "file", filename: layer.path, ...(depth === 0 ? { discard: "unmap" } : {}) },
    ...(CAN_LEAN.has(format)
      ? { backing: below.length === 0 ? null : blockNode(key, below, true, depth + 1) }
      : {}),
  };
}

/**
 * The device that a guest sees; its serial number tells the guest's disks apart. Without an address QEMU would put it
 * behind one that the port has already, where no guest looks.
 */
export function blockDevice(key: string, bus: string): JsonObject {
  return { driver: "virtio-blk-pci", id: deviceName(key), bus, addr: "0", drive: nodeName(key), serial: key };
}
