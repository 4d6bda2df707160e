/** Groups of abilities with machines that not every driver has. Each stands for one feature. */

import type { DiskMoment, VmChange, VmEvent } from "../contract/vm.ts";
import type { VmSettings } from "../contract/vm_settings.ts";
import type { CallScope } from "./call_scope.ts";

/** Feature `pause`. Wrong states are `hv.conflict` with what is wanted and found; being there already is success. */
export interface PauseAbilities {
  /** Halts the processors; memory stays where it is. Afterwards the state is exactly `paused`. */
  pause(id: string, scope: CallScope): Promise<void>;
  /** Lets a paused VM go on. */
  resume(id: string, scope: CallScope): Promise<void>;
}

/** Feature `configure`. */
export interface ConfigureAbilities {
  /** Changes a VM. Answers which fields hold now and which at the next start. */
  configure(
    id: string,
    change: VmChange,
    scope: CallScope,
  ): Promise<{ now: string[]; at_next_start: string[] }>;
  /** Gives a VM another name, whatever its state; `hv.conflict` when it is taken. */
  rename(id: string, name: string, scope: CallScope): Promise<void>;
}

/** Feature `settings`: what a provider keeps of a VM beside its size. */
export interface SettingsAbilities {
  /** The settings as they are now; one that this VM cannot have is absent. */
  read(id: string, signal: AbortSignal): Promise<VmSettings>;
  /**
   * Changes those that are given and leaves the others. `hv.conflict` when the VM must be off for one of them, before
   * any is changed; a failure on the way says in `context.applied` which ones hold already.
   */
  write(id: string, settings: VmSettings, scope: CallScope): Promise<void>;
}

/** What an exported folder says of itself. */
export interface ExportFacts {
  name: string;
  memory_mb: number;
  cpus: number;
}

/** Feature `copies`: VMs made of VMs. A failure leaves nothing behind. */
export interface CopyAbilities {
  /**
   * Makes a new VM with the disks as they are now, never with memory or checkpoints. `disks` tells which moment they
   * show, and is absent for a VM without any.
   */
  clone(id: string, name: string, scope: CallScope): Promise<{ id: string; disks?: DiskMoment }>;
  /**
   * Writes everything that the VM needs elsewhere into a folder that does not exist or is empty; `hv.conflict` else.
   * Memory and checkpoints stay behind.
   */
  export(id: string, folder: string, scope: CallScope): Promise<{ files: string[]; disks?: DiskMoment }>;
  /** Reads what an exported folder says of itself. Throws `hv.bad_image` for a folder that is none. */
  look(folder: string, signal: AbortSignal): Promise<ExportFacts>;
  /**
   * Makes a VM of an exported folder, which stays as it is. Answers its id. Throws `hv.bad_image` when a file is
   * not what the folder's record says, or leads to other files; `hv.conflict` when it does not fit this host.
   */
  import(folder: string, name: string | undefined, scope: CallScope): Promise<string>;
}

/** What a foreign VM says of itself; a QEMU may have no name. */
export interface ForeignVm {
  id: string;
  name: string;
}

/** Which VM is to be adopted, and how. */
export interface AdoptionWish {
  /** What the driver finds it by: on QEMU the monitor socket of a running one, on Hyper-V its id or exact name. */
  locator: string;
  /** The name that it gets; the one that it says itself when left out. */
  name?: string | undefined;
  /** Is asked before anything is changed, and throws to refuse. */
  allow?: (found: ForeignVm) => void;
}

/** Feature `adoption`: VMs that somebody else made. */
export interface AdoptionAbilities {
  /** Takes a foreign VM under hvlab's names. Adopting a VM again finds its way to it anew. */
  adopt(wish: AdoptionWish, scope: CallScope): Promise<string>;
  /** Forgets an adopted VM and touches neither its process nor its disks. `hv.unsupported` for one of our own. */
  forget(id: string, scope: CallScope): Promise<void>;
}

/** Feature `events`. */
export interface EventAbilities {
  /** Events of one VM or of all, oldest first: the first ones after `after`, or without it the newest ones. */
  history(
    id: string | undefined,
    options: { after?: number; limit: number },
    signal: AbortSignal,
  ): Promise<VmEvent[]>;
  /** Why events are not being recorded right now, in one sentence; `undefined` while they are, or when none can come. */
  gap(signal: AbortSignal): Promise<string | undefined>;
}
