/** Where things stand in the state folder. */

import { joinPath } from "../base/paths.ts";

/** One state folder. Paths only: nothing is made by asking. */
export class StateFolder {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** The SQLite database of operations, plans, the audit trail and cached findings. */
  get database(): string {
    return joinPath(this.root, "hvlab.db");
  }

  /** One folder per VM; all that a VM owns lies in its own. */
  get vms(): string {
    return joinPath(this.root, "vms");
  }

  vm(id: string): string {
    return joinPath(this.vms, id);
  }

  /** Where images lie unless the configuration names other folders. */
  get images(): string {
    return joinPath(this.root, "images");
  }

  /** Images of Hyper-V's virtual disks, apart from those of other drivers. */
  get hypervImages(): string {
    return joinPath(this.root, "hyperv_images");
  }

  /** What belongs to guests of Hyper-V's VMs, one folder for each VM. */
  get hypervGuests(): string {
    return joinPath(this.root, "hyperv_guests");
  }

  /** Warm templates: `<image>/<fingerprint>/`, apart from the images, which may lie anywhere. */
  get templates(): string {
    return joinPath(this.root, "templates");
  }

  /** What debuggers said of dumps; a cache. */
  get analyses(): string {
    return joinPath(this.root, "analyses");
  }

  /** Symbol files that were fetched from servers; a cache in the layout of a symbol store. */
  get symbols(): string {
    return joinPath(this.root, "symbols");
  }

  /** What differencing disks lean on, as it was when they were made: one file for each. */
  get disks(): string {
    return joinPath(this.root, "disks");
  }

  /** Merges of Hyper-V's disks that are under way, or were when their call was killed: one file for each. */
  get hypervMerges(): string {
    return joinPath(this.root, "hyperv_merges");
  }

  /** Locks that are not one VM's own: names, image imports. */
  get locks(): string {
    return joinPath(this.root, "locks");
  }

  /** What belongs to the keeper: its lock, what it says of itself, the note that one is wanted, its log. */
  get keeper(): string {
    return joinPath(this.root, "keeper");
  }

  /** Held by the keeper while it lives. */
  get keeperLock(): string {
    return joinPath(this.keeper, "lock");
  }

  /** What the keeper, or the last one, says of itself: apart from the lock, which on Windows nobody else can read. */
  get keeperFacts(): string {
    return joinPath(this.keeper, "facts.json");
  }

  /** There while somebody wants a keeper. */
  get keeperWish(): string {
    return joinPath(this.keeper, "wanted");
  }

  get keeperLog(): string {
    return joinPath(this.keeper, "log");
  }

  /** Which way into guests of an image answered when a better one did not. */
  get guestChannels(): string {
    return joinPath(this.root, "guest_channels.json");
  }

  /** What crash policies kept: one folder for each operation whose guest crashed. */
  get crashes(): string {
    return joinPath(this.root, "crashes");
  }

  /** What operations are to do that a process of their own is about to take over. */
  get detached(): string {
    return joinPath(this.root, "detached");
  }

  /** Whole results that were too long for an answer. */
  get results(): string {
    return joinPath(this.root, "results");
  }
}
