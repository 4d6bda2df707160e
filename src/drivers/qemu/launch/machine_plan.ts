/** What QEMU is told of a machine, before it is put into words. */

import type { JsonObject } from "../../../base/json.ts";
import type { WatchdogAction } from "../../../contract/device.ts";
import type { NicPlan } from "../network/netdevs.ts";
import type { RuntimeFolder } from "../runtime_folder.ts";
import type { Accelerator } from "./accelerators.ts";

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
  /** The port that it is plugged into; one of its own when left out. */
  port?: string;
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
  /** The ports that are there for attached disks; those of the disks themselves when left out. */
  diskPorts?: readonly string[];
  /** The socket of the program that is its TPM. */
  tpm?: string;
  /** What its watchdog does, if it has one. */
  watchdog?: WatchdogAction;
  runtime: Pick<RuntimeFolder, "monitor" | "agent" | "data" | "serial" | "secondSerial" | "pidFile">;
  /** Where the first serial port's text goes. */
  serialLog: string;
  /** Whether QEMU locks itself in (seccomp; Linux only). */
  confined: boolean;
}
