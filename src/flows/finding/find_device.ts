/** The device that a change was about, as it is afterwards. */

import type { Device, DeviceKind } from "../../contract/device.ts";
import type { Vm } from "../../contract/vm.ts";

const NAMES: Readonly<Partial<Record<DeviceKind, string>>> = {
  dvd: "DVD drive",
  gpu: "part of a graphics card",
  serial: "serial port",
  tpm: "TPM",
};

/** The first device of a kind, or the one at a place among them. One that is not there is shown as absent. */
export function findDevice(vm: Vm, devices: readonly Device[], kind: DeviceKind, place = 0): Device {
  const found = devices.filter((device) => device.kind === kind)[place];
  return found ?? { id: kind, kind, vm: vm.id, model: NAMES[kind] ?? kind, now: false, next_start: false };
}
