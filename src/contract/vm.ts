/** Virtual machines. */

import * as z from "zod/mini";
import { CrashSettings } from "./crash_policy.ts";
import { WatchdogAction } from "./device.ts";
import { ErrorObject } from "./operation.ts";
import { Share } from "./share.ts";
import { VmSettings } from "./vm_settings.ts";

/** What a VM can be observed to be. `unknown` means that it could not be seen, never that it is off. */
export const VmState = z.enum([
  "off",
  "starting",
  "running",
  "pausing",
  "paused",
  "saving",
  "saved",
  "stopping",
  "resetting",
  "merging",
  "crashed",
  "io_error",
  "unknown",
]);
export type VmState = z.infer<typeof VmState>;

/** How far a VM must have come: each level is proved by a fresh look, `heartbeat` by a fresh guest operation. */
export const ReadinessLevel = z.enum(["running", "heartbeat", "address", "login", "off", "crash"]);
export type ReadinessLevel = z.infer<typeof ReadinessLevel>;

/** `shutdown` asks the guest and never escalates; `button` presses the power button; `save` keeps memory on disk; `off` cuts the power. */
export const StopMode = z.enum(["shutdown", "button", "save", "off"]);
export type StopMode = z.infer<typeof StopMode>;

/** The firmware that a machine begins with; `uefi_secure` boots only what is signed by keys that it trusts. */
export const Firmware = z.enum(["bios", "uefi", "uefi_secure"]);
export type Firmware = z.infer<typeof Firmware>;

/** What `configure` changes; a field that is left out stays. */
export const VmChange = z.object({
  memory_mb: z.optional(z.int()),
  cpus: z.optional(z.int()),
});
export type VmChange = z.infer<typeof VmChange>;

/** A VM as it is seen now. Nothing here is remembered from a request. */
export const Vm = z.object({
  id: z.string(),
  name: z.string(),
  state: VmState,
  /** Why the state is `unknown`, `crashed` or `io_error`, or `paused` by its watchdog, in one sentence. */
  state_reason: z.optional(z.string()),
  driver: z.string(),
  /** Whether `sandbox create` or `sandbox run` made it. */
  sandbox: z.boolean(),
  /** Whether hvlab made or adopted it; only then may it be deleted by name. */
  managed: z.boolean(),
  image: z.optional(z.string()),
  memory_mb: z.int(),
  cpus: z.int(),
  /** What it gets at its next start instead. */
  at_next_start: z.optional(VmChange),
  /** `bios` when left out. */
  firmware: z.optional(Firmware),
  /** Hyper-V's generation of virtual hardware: 1 boots by BIOS, 2 by UEFI. */
  generation: z.optional(z.int()),
  /** Folders of the host that its guest sees. */
  shares: z.optional(z.array(Share)),
  /** Whether it has a TPM. */
  tpm: z.optional(z.boolean()),
  /** Whether it was made with a seed for cloud-init in its guest. */
  cloud_init: z.optional(z.boolean()),
  /** What its watchdog does; it has none when left out. */
  watchdog: z.optional(WatchdogAction),
  /** What is kept of its crashes; `stop` when left out. */
  on_crash: CrashSettings.shape.on_crash,
  /** What its kernel is told to panic at. */
  panic_on: CrashSettings.shape.panic_on,
  /** Whether its running kernel has confirmed that it panics at that, and at oopses under a policy that keeps something. */
  panic_told: z.optional(z.boolean()),
  /** Why it has not. */
  panic_problem: z.optional(z.string()),
  /** Settings beside its size; looked up for one VM, never for a list. */
  settings: z.optional(VmSettings),
  /** Whether somebody else made it; its process and its disks are never removed by us. */
  adopted: z.optional(z.boolean()),
  created_at: z.optional(z.string()),
  /** How instructions run: `tcg` is emulation. Known only while it runs. */
  acceleration: z.optional(z.string()),
  pid: z.optional(z.int()),
  /** When a sandbox's lease ends. */
  expires_at: z.optional(z.string()),
  /** True when the answer comes from a simulated host. */
  simulated: z.optional(z.boolean()),
});
export type Vm = z.infer<typeof Vm>;

/** What is known of something that hvlab left behind. */
export const Orphan = z.object({
  /** What it is: a sandbox whose lease or maker has ended, a folder without a readable record, a process without a VM, a killed keeper's note, a program that a VM's machine no longer needs, a VM whose making broke off. */
  kind: z.enum([
    "sandbox_expired",
    "sandbox_abandoned",
    "folder_without_record",
    "runtime_folder",
    "process",
    "keeper",
    "helper",
    "unfinished_vm",
  ]),
  id: z.string(),
  name: z.optional(z.string()),
  paths: z.array(z.string()),
  pid: z.optional(z.int()),
  size_bytes: z.int(),
  reason: z.string(),
});
export type Orphan = z.infer<typeof Orphan>;

/** What a removal really removed. */
export const Removed = z.object({
  id: z.string(),
  name: z.optional(z.string()),
  removed: z.boolean(),
  files: z.array(z.string()),
  /** Disks that were left where they are because the call said so. */
  kept: z.optional(z.array(z.string())),
  warnings: z.optional(z.array(z.string())),
});
export type Removed = z.infer<typeof Removed>;

/**
 * Which moment copied disks show: `at_rest` those of a VM that was off, `power_cut` those of one that ran, as its
 * guest would find them after a power cut at that moment.
 */
export const DiskMoment = z.enum(["at_rest", "power_cut"]);
export type DiskMoment = z.infer<typeof DiskMoment>;

/**
 * What can happen to a VM. `stopped` is an orderly end, `saved` one whose memory waits on disk, `died` one without a word;
 * `button` is the press of its power button, `expired` the end of a sandbox's lease.
 */
export const VmEventKind = z.enum([
  "started",
  "stopped",
  "saved",
  "died",
  "paused",
  "resumed",
  "reset",
  "crashed",
  "io_error",
  "button",
  "watchdog",
  "suspended",
  "woken",
  "expired",
]);
export type VmEventKind = z.infer<typeof VmEventKind>;

/** How a call that names several VMs went for one of them. */
export const VmOutcome = z.object({
  /** The VM as it was named. */
  vm: z.string(),
  id: z.optional(z.string()),
  ok: z.boolean(),
  /** Its state afterwards; absent when it was removed or could not be seen. */
  state: z.optional(VmState),
  removed: z.optional(z.boolean()),
  warnings: z.optional(z.array(z.string())),
  error: z.optional(ErrorObject),
});
export type VmOutcome = z.infer<typeof VmOutcome>;

/** What stands in the place of one VM's facts when several were named. */
export const VmOutcomes = { results: z.optional(z.array(VmOutcome)) } as const;

/** Something that happened to a VM. */
export const VmEvent = z.object({
  /** Rises with every event of this state folder. */
  seq: z.int(),
  at: z.string(),
  /** The VM's id. */
  vm: z.string(),
  event: VmEventKind,
  /**
   * What the provider said, such as the reason of a stop or the arguments of a crash. `late` marks what was not seen when
   * it happened, but found afterwards.
   */
  details: z.record(z.string(), z.unknown()),
});
export type VmEvent = z.infer<typeof VmEvent>;
