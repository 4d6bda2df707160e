/** What a driver must do and may do. The tools read `features` and never ask which driver it is. */

import type { JsonObject } from "../base/json.ts";
import type { CrashSettings } from "../contract/crash_policy.ts";
import type { WatchdogAction } from "../contract/device.ts";
import type { Finding } from "../contract/finding.ts";
import type { Image } from "../contract/image.ts";
import type { Loss } from "../contract/plan.ts";
import type { Share } from "../contract/share.ts";
import type { Firmware, Orphan, Removed, StopMode, Vm } from "../contract/vm.ts";
import type { GuestChannel } from "../guest/channel.ts";
import type { GuestFolder } from "../guest/guest_folder.ts";
import type { ImageStoreAbilities } from "./image_store_abilities.ts";
import type { GuestLogin } from "../guest/login.ts";
import type { SecretStore } from "../guest/credentials.ts";
import type { CallScope } from "./call_scope.ts";
import type { CloudInitSpec } from "./cloud_init.ts";
import type { TemplateAbilities } from "./template_abilities.ts";
import type { MemoryDumpAbilities } from "./memory_dump_abilities.ts";
import type { CrashAbilities } from "./crash_abilities.ts";
import type { CheckpointAbilities } from "./checkpoint_abilities.ts";
import type { DiskAbilities } from "./disk_abilities.ts";
import type { DeviceAbilities, GpuAbilities, SerialPortAbilities } from "./device_abilities.ts";
import type { ForwardAbilities, NicAbilities, SwitchAbilities } from "./network_abilities.ts";
import type {
  ConsoleAbilities,
  DebugStubAbilities,
  NmiAbilities,
  SerialAbilities,
} from "./console_abilities.ts";
import type { OpenBackground } from "./background_abilities.ts";
import type {
  AdoptionAbilities,
  ConfigureAbilities,
  CopyAbilities,
  EventAbilities,
  PauseAbilities,
  SettingsAbilities,
} from "./vm_extras.ts";

/** Abilities that not every driver has. A tool names the one that it needs; the pipeline answers `hv.unsupported` without it. */
export type Feature =
  | "vms"
  | "vms.disks"
  | "vms.generations"
  | "vms.switches"
  | "images"
  | "images.store"
  | "sandboxes"
  | "templates"
  | "guest"
  | "pause"
  | "configure"
  | "crash_policies"
  | "settings"
  | "copies"
  | "adoption"
  | "shares"
  | "tpm"
  | "cloud_init"
  | "watchdog"
  | "events"
  | "disks"
  | "dumps"
  | "console"
  | "serial"
  | "nmi"
  | "debug_stub"
  | "forwards"
  | "devices"
  | "serial_ports"
  | "serial_ports.debugger"
  | "gpus"
  | "switches"
  | "switches.nat"
  | "nics"
  | "nics.vlan"
  | "checkpoints"
  | "checkpoints.memory";

/** A kernel of the user's own in place of an image's. Paths are of this host; the files are copied. */
export interface KernelSpec {
  /** A kernel file, or the folder in which one was built. */
  kernel?: string;
  /** In place of the image's initial file system. */
  initrd?: string;
  /** Words that follow the image's own kernel command line. */
  append?: string;
  /** A folder of kernel modules that the initial file system gets on top. */
  modules?: string;
}

/** A VM to be made. Sizes are real; defaults have been applied. */
export interface VmSpec {
  name: string;
  /** What it starts from. A VM without an image needs a blank disk, an ISO or a kernel. */
  image?: string;
  memory_mb: number;
  cpus: number;
  /** Gives it copies of the image's files instead of leaning on them. */
  full_copy?: boolean;
  /** The size of a blank disk in MiB. Not together with an image that is a disk. */
  disk_size_mb?: number;
  /** Feature `vms.disks`: a virtual disk that is there already, used where it lies. */
  disk?: string;
  /** Feature `vms.disks`: a virtual disk that stays as it is; the VM gets one that holds the differences. */
  parent_disk?: string;
  /** Feature `vms.generations`: of virtual hardware, 1 or 2; without it `firmware` says all there is to say. */
  generation?: number;
  /** Feature `vms.switches`: the name of the switch that its network adapter is on. */
  switch?: string;
  /** An image of an optical disc, used where it lies. */
  iso?: string;
  /** `bios` when left out. */
  firmware?: Firmware;
  /** Whether it has a network of its own behind the host; so when left out. */
  network?: boolean;
  kernel?: KernelSpec;
  /** Feature `shares`: folders of this host that its guest sees. Paths are full and without links. */
  shares?: Share[];
  /** Feature `cloud_init`: what its guest is told at its first boot. */
  cloud_init?: CloudInitSpec;
  /** Feature `tpm`: whether it has a TPM 2.0 of its own. */
  tpm?: boolean;
  /** Feature `watchdog`: gives it one, and says what it does. */
  watchdog?: WatchdogAction;
  /** Feature `crash_policies`: what becomes of its crashes. */
  crashes?: CrashSettings;
}

/** A sandbox to be made: a VM that is disposable by construction and lives by its lease. */
export interface SandboxSpec extends VmSpec {
  image: string;
  ttl_s: number;
  /** Ends the machine with this process, even when it is killed. For `sandbox run` without `--keep`. */
  tiedToUs: boolean;
}

/** An image to be taken in. Paths are of files on this host; they are copied, never moved. */
export interface ImageSource {
  name: string;
  disk?: string;
  kernel?: string;
  fast_kernel?: string;
  initrd?: string;
  append?: string;
}

/** VMs seen, and what could not be read on the way. */
export interface VmListing {
  vms: Vm[];
  warnings: string[];
  /** Each is among the warnings too. Absent where a driver keeps no records of its own. */
  damaged?: DamagedVm[];
}

/** A VM that is there, and whose record is missing or cannot be read. */
export interface DamagedVm {
  id: string;
  /** The path of its record. */
  record: string;
  reason: string;
  /** The process that runs it, when one does. */
  pid?: number;
}

/** What a removal leaves. */
export interface RemovalOptions {
  /** Feature `vms.disks`: leaves the disk files where they are. */
  keep_disks?: boolean;
}

/** Machines. Ids are `vm-<uuid>`; every method on an unknown id fails with `hv.not_found`. */
export interface VmAbilities {
  /** All VMs, each observed now. A VM whose record is damaged is a warning, never a silent gap. */
  list(signal: AbortSignal): Promise<VmListing>;
  get(id: string, signal: AbortSignal): Promise<Vm>;
  /** Makes a VM that is off. Fails with `hv.conflict` when the name is taken; a failure leaves nothing behind. */
  create(spec: VmSpec, scope: CallScope): Promise<string>;
  /** Powers on and returns once the machine runs. On a running VM it does nothing. A second start at the same time is `hv.conflict`. */
  start(id: string, scope: CallScope): Promise<void>;
  /** Brings the VM to `off` (or `saved`) and returns once it is there. On a VM that is off it does nothing. */
  stop(id: string, mode: StopMode, scope: CallScope): Promise<void>;
  /** What `remove` would take away. */
  losses(id: string, signal: AbortSignal, options?: RemovalOptions): Promise<Loss[]>;
  /** Powers off if needed and removes everything that belongs to the VM. */
  remove(id: string, scope: CallScope, options?: RemovalOptions): Promise<Removed>;
  /** What hvlab left behind: found by record, runtime folder and process, each observed now. */
  orphans(signal: AbortSignal): Promise<Orphan[]>;
  /** Removes one orphan after looking at it again; what has come to life meanwhile stays. */
  removeOrphan(orphan: Orphan, scope: CallScope): Promise<Removed>;
}

/** Disposable machines. They are VMs too: `vms` lists them and stops them. */
export interface SandboxAbilities {
  /** Makes and powers on a sandbox. A failure leaves nothing behind. */
  create(spec: SandboxSpec, scope: CallScope): Promise<string>;
  /** Removes sandboxes whose lease has run out or whose maker has died. Called before every change. */
  sweep(scope: CallScope): Promise<Removed[]>;
}

/** Folders of this host in guests. */
export interface ShareAbilities {
  /**
   * Mounts what a running VM shares, where its guest has not mounted it yet. The channels of such a VM do so by
   * themselves. Throws `hv.unsupported` when host and guest have no way in common.
   */
  mount(vm: Vm, signal: AbortSignal): Promise<void>;
}

/** Images on this host. */
export interface ImageAbilities {
  list(signal: AbortSignal): Promise<{ images: Image[]; warnings: string[] }>;
  get(name: string, signal: AbortSignal): Promise<Image>;
  /** Copies, checks and digests the files. Fails with `hv.conflict` when the name is taken. */
  import(source: ImageSource, scope: CallScope): Promise<Image>;
}

/** One kind of hypervisor on this host. */
export interface Driver {
  readonly name: string;
  readonly features: ReadonlySet<Feature>;
  /** True when the host is a simulated one; every answer then says so. */
  readonly simulated?: boolean;
  readonly vms: VmAbilities;
  /** Present when `features` has `sandboxes`. */
  readonly sandboxes?: SandboxAbilities;
  /** Present when `features` has `images`. */
  readonly images?: ImageAbilities;
  /** Present when `features` has `images.store`. */
  readonly imageStore?: ImageStoreAbilities;
  /** Present when `features` has `templates`. */
  readonly templates?: TemplateAbilities;
  /** Present when `features` has `checkpoints`; with `checkpoints.memory` they can hold memory. */
  readonly checkpoints?: CheckpointAbilities;
  /** Present when `features` has `disks`. */
  readonly disks?: DiskAbilities;
  /** Present when `features` has `devices`. */
  readonly devices?: DeviceAbilities;
  /** Present when `features` has `serial_ports`. */
  readonly serial_ports?: SerialPortAbilities;
  /** Present when `features` has `gpus`. */
  readonly gpus?: GpuAbilities;
  /** Present when `features` has `switches`. */
  readonly switches?: SwitchAbilities;
  /** Present when `features` has `nics`. */
  readonly nics?: NicAbilities;
  /** Present when `features` has `forwards`. */
  readonly forwards?: ForwardAbilities;
  /** Present when `features` has `pause`. */
  readonly pause?: PauseAbilities;
  /** Present when `features` has `configure`. */
  readonly configure?: ConfigureAbilities;
  /** Present when `features` has `crash_policies`. */
  readonly crashes?: CrashAbilities;
  /** Present when `features` has `settings`. */
  readonly settings?: SettingsAbilities;
  /** Present when `features` has `copies`. */
  readonly copies?: CopyAbilities;
  /** Present when `features` has `adoption`. */
  readonly adoption?: AdoptionAbilities;
  /** Present when `features` has `events`. */
  readonly events?: EventAbilities;
  /** Present when `features` has `console`. */
  readonly console?: ConsoleAbilities;
  /** Present when `features` has `serial`. */
  readonly serial?: SerialAbilities;
  /** Present when `features` has `nmi`. */
  readonly nmi?: NmiAbilities;
  /** Present when `features` has `debug_stub`. */
  readonly debug_stub?: DebugStubAbilities;
  /** Present when `features` has `dumps`. */
  readonly dumps?: MemoryDumpAbilities;
  /** Present when `features` has `shares`. */
  readonly shares?: ShareAbilities;
  /** What a background process does for this driver; absent where the provider has a service of its own. */
  readonly background?: OpenBackground;

  /** The ways into a VM's guest that this driver brings, best first; `login` is for those that log in. */
  channels(vm: Vm, login?: GuestLogin): GuestChannel[];

  /**
   * The private folder on this host of a VM's guest; a driver that has none leaves it out. Nothing is made by asking.
   */
  guestFolder?(id: string): GuestFolder;

  /** The operating system's store of passwords, where only this driver has a way to it. */
  readonly secrets?: SecretStore;

  /**
   * Waits for the guest's heartbeat as the provider sees it, where it has one; the heartbeat level is otherwise proved by
   * asking the guest through a channel.
   */
  heartbeat?(id: string, signal: AbortSignal): Promise<void>;

  /** Brings up what the first call would have to wait for, so that no call's limit pays for it. */
  ready?(signal: AbortSignal): Promise<void>;

  /** What the provider says of this host. Each fact that cannot be had says so by itself. */
  hostFacts?(signal: AbortSignal): Promise<Record<string, unknown>>;

  /** Whether the guest has reported a crash; `undefined` while it has not. Absent where the provider does not tell. */
  crash?(id: string, signal: AbortSignal): Promise<{ reason: string } | undefined>;

  /** The last lines that the guest wrote to its serial port, at most 4 KiB; `undefined` when there are none. */
  lastWords?(id: string, signal: AbortSignal): Promise<string | undefined>;

  /** Raw facts of the provider for a bug report; no names, paths or secrets. Changes nothing and never throws for a fact. */
  report?(signal: AbortSignal): Promise<JsonObject>;

  /** Looks whether this host can do the driver's work. Changes nothing and never throws for a finding. */
  diagnose(signal: AbortSignal): Promise<Finding[]>;

  /** Gives back what the driver holds open in this process. VMs live on. */
  close(): Promise<void>;
}
