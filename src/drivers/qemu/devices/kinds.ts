/** What QEMU's devices are for, by their types. */

import type { DeviceKind } from "../../../contract/device.ts";

/** A kind of device with its name for people. */
export interface KnownKind {
  kind: DeviceKind;
  model: string;
}

/** Devices that users see; the rest of a machine is the same for all VMs. */
export const KINDS: Readonly<Record<string, KnownKind>> = {
  "ide-cd": { kind: "dvd", model: "SATA DVD drive" },
  "virtio-blk-pci": { kind: "disk", model: "virtio disk" },
  "virtio-net-pci": { kind: "nic", model: "virtio network card" },
  "i6300esb": { kind: "watchdog", model: "Intel 6300ESB watchdog" },
  "tpm-tis": { kind: "tpm", model: "TPM 2.0" },
  "vmgenid": { kind: "generation_id", model: "VM generation id" },
  "pvpanic-pci": { kind: "crash_notifier", model: "pvpanic" },
};

/** Looks a QOM child up, such as `child<ide-cd>`. */
export function kindOfChild(type: unknown): KnownKind | undefined {
  const [, name = ""] = /^child<(.+)>$/.exec(String(type)) ?? [];
  return KINDS[name];
}
