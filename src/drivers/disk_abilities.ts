/** What a driver with the feature `disks` must do. */

import type {
  AttachedDisk,
  ChainFault,
  Disk,
  DiskCheck,
  DiskFormat,
  DiskLayer,
  DiskType,
} from "../contract/disk.ts";
import type { Loss } from "../contract/plan.ts";
import type { CallScope } from "./call_scope.ts";

/** A chain as far as it could be followed: the disk itself first, then what each one leans on. */
export interface Chain {
  path: string;
  layers: DiskLayer[];
  /** Why it is no whole chain, and at which layer; absent for a sound one. */
  broken?: { fault: ChainFault; layer: number; problem: string };
}

/** A disk to be made. */
export interface DiskSpec {
  path: string;
  /** Of its name's ending when left out. */
  format?: DiskFormat;
  type: DiskType;
  /** What a guest sees; of its parent when left out, which only a differencing disk may do. */
  size_bytes?: number;
  /** What a differencing disk leans on. */
  parent?: string;
  /** Replaces a file that is there. */
  overwrite?: boolean;
}

/** What a disk is converted into. */
export interface ConversionWish {
  target: string;
  format?: DiskFormat;
  type: Exclude<DiskType, "differencing">;
  overwrite?: boolean;
  follow_parents?: boolean;
}

/** How a disk is attached. */
export interface AttachmentWish {
  read_only?: boolean;
  /** Uses parents that hvlab has not recorded itself. */
  follow_parents?: boolean;
}

/**
 * Virtual disks as files, and disks of VMs. Paths are as the caller gave them, relative ones of the working folder. A
 * file that is not there is `hv.not_found`; one that is no disk `hv.bad_image`; one that somebody uses `hv.conflict` or
 * `hv.io`, naming who it is where that can be found out.
 */
export interface DiskAbilities {
  /** Reads one file's own header. */
  info(path: string, signal: AbortSignal): Promise<Disk>;
  /** Follows a disk's parents and names what is wrong. Throws only for the first file. */
  chain(path: string, signal: AbortSignal): Promise<Chain>;
  /** Checks a disk's contents as far as its format can be checked. Repairs nothing. */
  check(path: string, scope: CallScope): Promise<DiskCheck>;
  /** Makes a disk: whole or not at all. `hv.conflict` when there is a file. */
  create(spec: DiskSpec, scope: CallScope): Promise<Disk>;
  /** Grows a disk, of a running VM too where the driver can. Less than it has is `hv.usage`. */
  resize(path: string, sizeBytes: number, scope: CallScope): Promise<Disk>;
  /** Writes a disk with all that it leans on as a new one that needs no other. */
  convert(path: string, wish: ConversionWish, scope: CallScope): Promise<Disk>;
  /** Gives space that a disk no longer needs back to the host. */
  compact(path: string, scope: CallScope): Promise<Disk>;
  /** What `merge` would lose: the differencing disk's file, and the parent as it was. */
  mergeLosses(
    path: string,
    follows: boolean,
    signal: AbortSignal,
  ): Promise<{ parent: string; losses: Loss[] }>;
  /**
   * Writes a differencing disk's contents into its parent and removes it; `follows` takes a parent that hvlab has not
   * recorded. Answers the parent as it is then.
   */
  merge(path: string, follows: boolean, scope: CallScope): Promise<{ disk: Disk; removed: string }>;
  /** What `remove` would lose. Throws `hv.conflict` when a VM or another disk needs the file. */
  losses(path: string, signal: AbortSignal): Promise<Loss[]>;
  /** Removes a disk's file. */
  remove(path: string, scope: CallScope): Promise<{ path: string; removed: boolean }>;
  /** A VM's disks beside its own, as they are now. */
  attached(vm: string, signal: AbortSignal): Promise<AttachedDisk[]>;
  /** Plugs a disk into a VM, now when it runs, and for its later starts. Answers the disk's full path. */
  attach(vm: string, path: string, wish: AttachmentWish, scope: CallScope): Promise<string>;
  /**
   * Shows a file of this host to the guest of a running VM as a read-only disk for the time of `work`, which gets the serial
   * number that the guest finds it by. What came of the work stands, although the disk cannot be taken out again: that is
   * a warning. Absent where it cannot be done.
   */
  lend?<T>(
    vm: string,
    path: string,
    work: (serial: string) => Promise<T>,
    scope: CallScope,
  ): Promise<T>;
  /** Takes out of a running VM what calls had lent that were killed; there wherever `lend` is. */
  takeBack?(vm: string, scope: CallScope): Promise<void>;
  /** Takes a disk out of a VM; the file stays. Answers the disk's full path. */
  detach(vm: string, path: string, scope: CallScope): Promise<string>;
}
