/** From a machine's plan to QEMU's argument vector. Pure: the same plan gives the same words. */

import type { RuntimeFolder } from "./runtime_folder.ts";

/** How instructions run: `tcg` emulates and works everywhere. */
export type Accelerator = "tcg" | "kvm";

/** What the machine starts from. */
export type Boot =
  | { kind: "kernel"; kernel: string; initrd?: string; append?: string }
  | { kind: "disk"; path: string; format: string };

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
  runtime: Pick<RuntimeFolder, "monitor" | "agent" | "data" | "pidFile">;
  /** Where the first serial port's text goes. */
  serialLog: string;
  /** Whether QEMU locks itself in (seccomp; Linux only). */
  confined: boolean;
}

/** Name of the agent's port in the guest, fixed by the agent itself. */
export const AGENT_PORT = "org.qemu.guest_agent.0";
/** Name of our own port for streams in the guest. */
export const DATA_PORT = "hvlab.data.0";
/** The name of a machine's memory. */
const RAM = "ram";
/** Hot-plug on q35 needs a root port that was there at the start (measured on QEMU 7.2). */
const SPARE_PORTS = 4;

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
    ...["-machine", `${plan.machine},memory-backend=${RAM}`],
    ...["-accel", plan.accelerator],
    ...["-cpu", plan.accelerator === "kvm" ? "host" : "max"],
    ...["-m", `size=${plan.memory_mb}M`],
    ...ram(plan.ramFile, plan.memory_mb),
    ...["-smp", String(plan.cpus)],
    // A panicked guest waits to be looked at; without this QEMU ends at once.
    ...["-action", "panic=pause"],
    ...["-pidfile", plan.runtime.pidFile],
    ...(plan.confined ? ["-sandbox", CONFINEMENT] : []),
    ...monitors(plan.runtime),
    ...serialPort(plan.serialLog),
    ...devices(plan.runtime),
    ...boot(plan.boot),
    ...(plan.incoming ? ["-incoming", "defer"] : []),
    ...(plan.paused ? ["-S"] : []),
  ];
}

/** Memory has the same name whatever it lies in, since saved memory loads only into parts of the same names. */
function ram(file: MachinePlan["ramFile"], sizeMb: number): string[] {
  const size = `id=${RAM},size=${sizeMb}M`;
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
  return `socket,id=${id},path=${escapeOption(path)},server=on,wait=off`;
}

function serialPort(log: string): string[] {
  return ["-chardev", `file,id=serial-0,path=${escapeOption(log)}`, "-serial", "chardev:serial-0"];
}

function devices(runtime: MachinePlan["runtime"]): string[] {
  const spares = Array.from(
    { length: SPARE_PORTS },
    (_, index) => `pcie-root-port,id=spare-${index},chassis=${index + 1}`,
  );
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
    ...["-object", "rng-random,id=entropy,filename=/dev/urandom"],
    ...device("virtio-rng-pci,rng=entropy"),
    ...["-netdev", "user,id=net-0"],
    // No boot over the network: without its ROM the firmware does not try.
    ...device("virtio-net-pci,id=nic-0,netdev=net-0,romfile="),
  ];
}

function device(text: string): string[] {
  return ["-device", text];
}

function boot(boot: Boot): string[] {
  if (boot.kind === "kernel") {
    return [
      ...["-kernel", boot.kernel],
      ...(boot.initrd === undefined ? [] : ["-initrd", boot.initrd]),
      ...(boot.append === undefined || boot.append === "" ? [] : ["-append", boot.append]),
    ];
  }
  // As JSON the path needs no escaping at all.
  const disk = {
    "driver": boot.format,
    "node-name": "disk-0",
    "discard": "unmap",
    "file": { driver: "file", filename: boot.path, discard: "unmap" },
  };
  return [
    ...["-blockdev", JSON.stringify(disk)],
    ...device("virtio-blk-pci,id=virtio-disk-0,drive=disk-0,bootindex=0"),
  ];
}
