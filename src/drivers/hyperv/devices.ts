/** Devices of VMs on Hyper-V. */

import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { uuidOf } from "../../base/ids.ts";
import type { Device, DeviceKind } from "../../contract/device.ts";
import type { DeviceAbilities, GpuAbilities, SerialPortAbilities } from "../device_abilities.ts";
import type { HyperV } from "./client.ts";
import { MachineFacts } from "./map.ts";
import { readAdapters } from "./network/networks.ts";
import { fullPath } from "./paths.ts";

const Drive = z.object({
  id: z.string(),
  name: z.string(),
  path: z.string(),
  controller: z.string(),
  number: z.int(),
  location: z.int(),
});
const Devices = z.object({
  dvds: z.array(Drive),
  disks: z.array(Drive),
  ports: z.array(z.object({ name: z.string(), path: z.string(), debugger: z.boolean() })),
  gpus: z.array(z.object({
    id: z.string(),
    memory_min: z.string(),
    memory_max: z.string(),
    memory_optimal: z.string(),
  })),
  tpm: z.nullable(z.boolean()),
  machine: MachineFacts,
});
type Devices = z.infer<typeof Devices>;

const BYTES_PER_MIB = 1024 * 1024;
const PIPE = /^\\\\\.\\pipe\\[^\\]+$/;

/** What is plugged into this host's VMs. */
export function openDevices(hyperv: HyperV): DeviceAbilities {
  return {
    async list(id, signal) {
      const vm = uuidOf(id);
      const devices = await hyperv.ask(Devices, "list_devices", { vm }, { signal });
      const { adapters } = await readAdapters(hyperv, id, signal);
      const cards = adapters.map((adapter) => ({ ...adapter, path: adapter.switch_name }));
      return [...devicesOf(id, devices), ...cards.map((card) => shown(id, "nic", card, "network adapter"))];
    },
    async setDvd(id, disc, _, scope) {
      const path = disc === null ? null : await fullPath(hyperv.host, disc);
      await hyperv.ask(Devices, "set_dvd", { vm: uuidOf(id), path }, scope);
    },
    async setTpm(id, present, scope) {
      await hyperv.writeSettings(id, { tpm: present }, scope);
    },
  };
}

/** Serial ports that are pipes of this host. */
export function openSerialPorts(hyperv: HyperV): SerialPortAbilities {
  return {
    async set(id, port, { path, debugger: debug }, scope) {
      if (typeof path === "string" && !PIPE.test(path)) {
        throw new HvError("hv.usage", `Hyper-V leads no serial port to "${path}": wanted a named pipe`, {
          hint: "Write it as \\\\.\\pipe\\NAME",
          context: { vm: id, path },
        });
      }
      const plug = path === undefined ? null : path ?? "";
      const args = { vm: uuidOf(id), number: port, path: plug, debugger: debug ?? null };
      await hyperv.ask(Devices, "set_serial_port", args, scope);
    },
  };
}

/** Parts of this host's graphics cards. */
export function openGpus(hyperv: HyperV): GpuAbilities {
  return {
    async set(id, share, scope) {
      const bytes = (size: number | undefined): string | null =>
        size === undefined ? null : String(size * BYTES_PER_MIB);
      await hyperv.ask(Devices, "set_gpu", {
        vm: uuidOf(id),
        wanted: share !== null,
        memory_min: bytes(share?.memory_min_mb),
        memory_max: bytes(share?.memory_max_mb),
      }, scope);
    },
  };
}

function devicesOf(vm: string, { disks, dvds, ports, gpus, tpm }: Devices): Device[] {
  const placeOf = ({ controller, number, location }: z.infer<typeof Drive>): string =>
    `${controller} ${number}:${location}`;
  return [
    ...disks.map((disk) => shown(vm, "disk", disk, placeOf(disk))),
    ...dvds.map((drive) => shown(vm, "dvd", drive, placeOf(drive))),
    ...ports.map(({ name, path, debugger: debug }) =>
      shown(vm, "serial", { id: name, path }, debug ? `${name}, for a kernel debugger` : name)
    ),
    ...gpus.map(({ id, memory_min, memory_max }) =>
      shown(vm, "gpu", { id }, `graphics card partition, ${inMib(memory_min)} to ${inMib(memory_max)} MiB`)
    ),
    ...(tpm ? [shown(vm, "tpm", { id: "tpm" }, "TPM 2.0")] : []),
  ];
}

function inMib(bytes: string): string {
  return bytes === "" ? "?" : String(Math.round(Number(bytes) / BYTES_PER_MIB));
}

function shown(
  vm: string,
  kind: DeviceKind,
  { id, path }: { id: string; path?: string | null },
  model: string,
): Device {
  const holds = path === undefined ? {} : { holds: path === "" ? null : path };
  return { id, kind, vm, model, ...holds, now: true, next_start: true };
}
