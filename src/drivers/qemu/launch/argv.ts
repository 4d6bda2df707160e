/** From a machine's plan to QEMU's argument vector. Pure: the same plan gives the same words. */

import { type Accelerator, accelerator } from "./accelerators.ts";
import { nicArguments, type NicPlan } from "../network/netdevs.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { WatchdogAction } from "../../../contract/device.ts";
import { watchdogArguments } from "../devices/watchdog.ts";
import { blockDevice } from "../disks/block_node.ts";
import type { RuntimeFolder } from "../runtime_folder.ts";

/** A disk's file. */
export interface Drive {
  path: string;
  format: string;
}

/** What the machine starts from; `nothing` leaves it to the disc in its drive. */
export type Boot =
  | { kind: "kernel"; kernel: string; initrd?: string; append?: string; disk?: Drive }
  | { kind: "disk" } & Drive
  | { kind: "nothing" };

/** UEFI firmware: its program, which all machines share, and the machine's own variables. */
export interface UefiFiles {
  code: string;
  variables: string;
  /** Whether only the firmware itself may change its variables, which Secure Boot rests on. */
  secure: boolean;
}

/** A disk that was attached to the machine: its block nodes and the key that names them. */
export interface AttachedDrive {
  key: string;
  node: JsonObject;
}

/** A shared folder: by a virtiofsd that listens on `socket`, by QEMU's own 9p from `folder`, or both. */
export interface SharePlan {
  /** The name by which the guest mounts it. */
  tag: string;
  socket?: string;
  folder?: string;
  read_only: boolean;
}

/** Everything that QEMU is told. */
export interface MachinePlan {
  uuid: string;
  name: string;
  /** A machine type with its version, such as `pc-q35-7.2`. */
  machine: string;
  accelerator: Accelerator;
  memory_mb: number;
  cpus: number;
  /** The RAM's own file: a template writes through to it (`shared`), a clone keeps its changes to itself. */
  ramFile?: { path: string; shared: boolean };
  /** Waits for a device state instead of starting the guest. */
  incoming?: boolean;
  /** Holds the guest until it is told to go on. */
  paused?: boolean;
  boot: Boot;
  /** Its drive, and the disc in it. */
  dvd?: { disc?: string };
  /** The disk that cloud-init in its guest reads. */
  seed?: string;
  /** The unix socket on which its second serial port listens. */
  serialSocket?: string;
  /** UEFI in place of the BIOS. */
  uefi?: UefiFiles;
  /** Its network cards; one behind the host when left out. */
  nics?: readonly NicPlan[];
  shares?: readonly SharePlan[];
  disks?: readonly AttachedDrive[];
  /** The socket of the program that is its TPM. */
  tpm?: string;
  /** What its watchdog does, if it has one. */
  watchdog?: WatchdogAction;
  runtime: Pick<RuntimeFolder, "monitor" | "agent" | "data" | "serial" | "pidFile">;
  /** Where the first serial port's text goes. */
  serialLog: string;
  /** Whether QEMU locks itself in (seccomp; Linux only). */
  confined: boolean;
}

/** Name of the agent's port in the guest, fixed by the agent itself. */
export const AGENT_PORT = "org.qemu.guest_agent.0";
/** Name of our own port for streams in the guest. */
export const DATA_PORT = "hvlab.data.0";
/** The block node of a VM's disk. */
export const DISK_NODE = "disk-0";
/** The block node of a VM's UEFI variables. */
export const VARIABLES_NODE = "uefi-variables";
const CODE_NODE = "uefi-code";
/** The block node of the disc in a VM's drive. */
export const DISC_NODE = "disc-0";
/** The block node of a VM's seed for cloud-init. */
const SEED_NODE = "seed-0";
/** The name of a VM's drive. */
export const DRIVE = "disc-drive-0";
/** The name of a machine's memory. */
const RAM = "ram";
/** Hot-plug on q35 needs a root port that was there at the start (measured on QEMU 7.2). */
const SPARE_PORTS = 4;
/** The names of these ports. */
export const SPARES: readonly string[] = Array.from({ length: SPARE_PORTS }, (_, index) => `spare-${index}`);

/** Numbers of the ports of attached disks, beyond those of all others. */
const DISK_CHASSIS = 64;

/** Doubles the commas of a value inside an option list: QEMU reads a single one as the next option. */
export function escapeOption(value: string): string {
  return value.replaceAll(",", ",,");
}

/** The words that mark a process as the VM with this uuid; they stand first, before any text of a user. */
export function identityWords(uuid: string): string[] {
  return ["-uuid", uuid];
}

/** The argument vector without the program itself. */
export function machineArguments(plan: MachinePlan): string[] {
  return [
    ...identityWords(plan.uuid),
    ...["-name", `guest=${escapeOption(plan.name)}`],
    ...["-nodefaults", "-no-user-config", "-display", "none"],
    ...["-machine", machineWords(plan)],
    ...(plan.uefi === undefined ? [] : firmware(plan.uefi)),
    ...["-accel", plan.accelerator],
    ...["-cpu", accelerator(plan.accelerator).cpu],
    ...["-m", `size=${plan.memory_mb}M`],
    ...ram(plan),
    ...["-smp", String(plan.cpus)],
    // A panicked guest waits to be looked at; without this QEMU ends at once.
    ...["-action", "panic=pause"],
    ...["-pidfile", plan.runtime.pidFile],
    ...(plan.confined ? ["-sandbox", CONFINEMENT] : []),
    ...monitors(plan.runtime),
    ...serialPort(plan.runtime.serial, plan.serialLog),
    ...(plan.serialSocket === undefined ? [] : secondSerialPort(plan.serialSocket)),
    ...devices(plan.runtime),
    ...(plan.nics ?? [{ number: 0, link: { kind: "user" } }]).flatMap(nicArguments),
    ...boot(plan.boot),
    ...(plan.dvd === undefined ? [] : drive(plan.dvd.disc)),
    ...(plan.seed === undefined ? [] : seedDisk(plan.seed)),
    ...(plan.shares ?? []).flatMap(share),
    ...(plan.tpm === undefined ? [] : tpm(plan.tpm)),
    ...(plan.watchdog === undefined ? [] : watchdogArguments(plan.watchdog)),
    ...(plan.disks ?? []).flatMap(attachedDisk),
    ...(plan.incoming ? ["-incoming", "defer"] : []),
    ...(plan.paused ? ["-S"] : []),
  ];
}

function machineWords({ machine, uefi }: MachinePlan): string {
  return [
    machine,
    `memory-backend=${RAM}`,
    ...(uefi?.secure ? ["smm=on"] : []),
    ...(uefi === undefined ? [] : [`pflash0=${CODE_NODE}`, `pflash1=${VARIABLES_NODE}`]),
  ].join(",");
}

function firmware({ code, variables, secure }: UefiFiles): string[] {
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

/** Memory has the same name whatever it lies in, since saved memory loads only into parts of the same names. */
function ram({ ramFile: file, memory_mb: sizeMb, shares = [] }: MachinePlan): string[] {
  const size = `id=${RAM},size=${sizeMb}M`;
  // virtiofsd reads and writes the guest's memory itself.
  if (shares.some(({ socket }) => socket !== undefined)) {
    return ["-object", `memory-backend-memfd,${size},share=on`];
  }
  if (file === undefined) return ["-object", `memory-backend-ram,${size}`];
  const share = file.shared ? "on" : "off";
  return ["-object", `memory-backend-file,${size},mem-path=${escapeOption(file.path)},share=${share}`];
}

const CONFINEMENT = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";

function monitors(runtime: MachinePlan["runtime"]): string[] {
  return (["keeper", "calls", "rescue"] as const).flatMap((role) => [
    ...["-chardev", socket(`monitor-${role}`, runtime.monitor(role))],
    ...["-mon", `chardev=monitor-${role},mode=control`],
  ]);
}

function socket(id: string, path: string): string {
  return `${client(id, path)},server=on,wait=off`;
}

function client(id: string, path: string): string {
  return `socket,id=${id},path=${escapeOption(path)}`;
}

/** Whoever connects has the line; the log gets what the guest writes, with or without anybody there. */
function serialPort(path: string, log: string): string[] {
  const line = `${socket("serial-0", path)},logfile=${escapeOption(log)},logappend=off`;
  return ["-chardev", line, "-serial", "chardev:serial-0"];
}

function secondSerialPort(path: string): string[] {
  return ["-chardev", socket("serial-1", path), "-serial", "chardev:serial-1"];
}

function devices(runtime: MachinePlan["runtime"]): string[] {
  const spares = SPARES.map((name, index) => `pcie-root-port,id=${name},chassis=${index + 1}`);
  return [
    ...device("VGA"),
    ...device("virtio-tablet-pci"),
    ...spares.flatMap(device),
    ...device("virtio-serial-pci,id=ports"),
    ...["-chardev", socket("agent", runtime.agent)],
    ...device(`virtserialport,bus=ports.0,chardev=agent,name=${AGENT_PORT}`),
    ...["-chardev", socket("data", runtime.data)],
    ...device(`virtserialport,bus=ports.0,chardev=data,name=${DATA_PORT}`),
    ...device("pvpanic-pci"),
    ...device("vmcoreinfo"),
    // A new number at each start: a guest that was copied learns that it must not be what it was.
    ...device("vmgenid,id=generation-0,guid=auto"),
    ...["-object", "rng-random,id=entropy,filename=/dev/urandom"],
    ...device("virtio-rng-pci,rng=entropy"),
  ];
}

function device(text: string): string[] {
  return ["-device", text];
}

function boot(boot: Boot): string[] {
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
function drive(path: string | undefined): string[] {
  const disc = path === undefined ? [] : ["-blockdev", JSON.stringify(discNode(path))];
  const holds = path === undefined ? "" : `,drive=${DISC_NODE}`;
  return [...disc, ...device(`ide-cd,id=${DRIVE},bus=ide.0${holds},bootindex=1`)];
}

/** The block node of a disc: read as it is, whatever its name looks like. */
export function discNode(path: string): JsonObject {
  return { "driver": "raw", "node-name": DISC_NODE, "read-only": true, "file": fileNode(path, true) };
}

/** A disk like any other to the guest, which needs no driver for discs then. */
function seedDisk(path: string): string[] {
  const node = { "driver": "raw", "node-name": SEED_NODE, "read-only": true, "file": fileNode(path, true) };
  return [
    ...["-blockdev", JSON.stringify(node)],
    ...device(`virtio-blk-pci,id=seed-disk,drive=${SEED_NODE}`),
  ];
}

/** Each gets a port of its own, so that it can be taken out while the machine runs. */
function attachedDisk({ key, node }: AttachedDrive, index: number): string[] {
  const port = `disk-port-${key}`;
  return [
    ...device(`pcie-root-port,id=${port},chassis=${DISK_CHASSIS + index}`),
    ...["-blockdev", JSON.stringify(node)],
    ...device(JSON.stringify(blockDevice(key, port))),
  ];
}

function share({ tag, socket: path, folder, read_only }: SharePlan): string[] {
  const options = [`local,id=${tag}-9p`, `path=${escapeOption(folder ?? "")}`, "security_model=none"];
  return [
    ...(path === undefined ? [] : [
      ...["-chardev", client(tag, path)],
      ...device(`vhost-user-fs-pci,chardev=${tag},tag=${tag}`),
    ]),
    ...(folder === undefined ? [] : [
      ...["-fsdev", [...options, ...(read_only ? ["readonly=on"] : [])].join(",")],
      ...device(`virtio-9p-pci,fsdev=${tag}-9p,mount_tag=${tag}`),
    ]),
  ];
}

function tpm(path: string): string[] {
  return [
    ...["-chardev", client("tpm", path)],
    ...["-tpmdev", "emulator,id=tpm-0,chardev=tpm"],
    ...device("tpm-tis,tpmdev=tpm-0"),
  ];
}
