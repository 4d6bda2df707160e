/** From a machine's plan to QEMU's argument vector. Pure: the same plan gives the same words. */

import { SECOND_SERIAL } from "../devices/serial_socket.ts";
import { watchdogArguments } from "../devices/watchdog.ts";
import { nicArguments } from "../network/netdevs.ts";
import { accelerator } from "./accelerators.ts";
import {
  attachedDisksWords,
  bootWords,
  CODE_NODE,
  driveWords,
  firmwareWords,
  seedWords,
  VARIABLES_NODE,
} from "./block_words.ts";
import type { MachinePlan, SharePlan } from "./machine_plan.ts";
import { connectedSocket, device, escapeOption, listeningSocket } from "./words.ts";

/** Name of the agent's port in the guest, fixed by the agent itself. */
export const AGENT_PORT = "org.qemu.guest_agent.0";
/** Name of our own port for streams in the guest. */
export const DATA_PORT = "hvlab.data.0";
/** The name of a machine's memory. */
const RAM = "ram";
/** Hot-plug on q35 needs a root port that was there at the start (measured on QEMU 7.2). */
const SPARE_PORTS = 4;
/** The names of these ports. */
export const SPARES: readonly string[] = Array.from({ length: SPARE_PORTS }, (_, index) => `spare-${index}`);

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
    ...(plan.uefi === undefined ? [] : firmwareWords(plan.uefi)),
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
    ...bootWords(plan.boot),
    ...(plan.dvd === undefined ? [] : driveWords(plan.dvd.disc)),
    ...(plan.seed === undefined ? [] : seedWords(plan.seed)),
    ...(plan.shares ?? []).flatMap(share),
    ...(plan.tpm === undefined ? [] : tpm(plan.tpm)),
    ...(plan.watchdog === undefined ? [] : watchdogArguments(plan.watchdog)),
    ...attachedDisksWords(plan),
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
    ...["-chardev", listeningSocket(`monitor-${role}`, runtime.monitor(role))],
    ...["-mon", `chardev=monitor-${role},mode=control`],
  ]);
}

/** Whoever connects has the line; the log gets what the guest writes, with or without anybody there. */
function serialPort(path: string, log: string): string[] {
  const line = `${listeningSocket("serial-0", path)},logfile=${escapeOption(log)},logappend=off`;
  return ["-chardev", line, "-serial", "chardev:serial-0"];
}

function secondSerialPort(path: string): string[] {
  return ["-chardev", listeningSocket(SECOND_SERIAL, path), "-serial", `chardev:${SECOND_SERIAL}`];
}

function devices(runtime: MachinePlan["runtime"]): string[] {
  const spares = SPARES.map((name, index) => `pcie-root-port,id=${name},chassis=${index + 1}`);
  return [
    ...device("VGA"),
    ...device("virtio-tablet-pci"),
    ...spares.flatMap(device),
    ...device("virtio-serial-pci,id=ports"),
    ...["-chardev", listeningSocket("agent", runtime.agent)],
    ...device(`virtserialport,bus=ports.0,chardev=agent,name=${AGENT_PORT}`),
    ...["-chardev", listeningSocket("data", runtime.data)],
    ...device(`virtserialport,bus=ports.0,chardev=data,name=${DATA_PORT}`),
    ...device("pvpanic-pci"),
    ...device("vmcoreinfo"),
    // A new number at each start: a guest that was copied learns that it must not be what it was.
    ...device("vmgenid,id=generation-0,guid=auto"),
    ...["-object", "rng-random,id=entropy,filename=/dev/urandom"],
    ...device("virtio-rng-pci,rng=entropy"),
  ];
}

function share({ tag, socket: path, folder, read_only }: SharePlan): string[] {
  const options = [`local,id=${tag}-9p`, `path=${escapeOption(folder ?? "")}`, "security_model=none"];
  return [
    ...(path === undefined ? [] : [
      ...["-chardev", connectedSocket(tag, path)],
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
    ...["-chardev", connectedSocket("tpm", path)],
    ...["-tpmdev", "emulator,id=tpm-0,chardev=tpm"],
    ...device("tpm-tis,tpmdev=tpm-0"),
  ];
}
