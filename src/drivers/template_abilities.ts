/** What a driver with the feature `templates` must do. */

import type { ImageCheck, Template } from "../contract/image.ts";
import type { Removed } from "../contract/vm.ts";
import type { CallScope } from "./call_scope.ts";

/** What a look after a pool changed: ids of VMs. */
export interface PoolChange {
  image: string;
  added: string[];
  removed: string[];
}

/** The machine that a template is made for; only sandboxes of the same size start from it. */
export interface TemplateSize {
  memory_mb: number;
  cpus: number;
}

/**
 * Warm templates: an image booted once and frozen, from which sandboxes start in a fraction of a boot. An unknown
 * image is `hv.not_found`.
 */
export interface TemplateAbilities {
  /**
   * Has a template of the image in this size: the one that fits, or a new one. Of several calls at once one makes it
   * and the others wait. `hv.timeout` when the guest never answers; a failure leaves nothing behind.
   */
  warm(image: string, size: TemplateSize, scope: CallScope): Promise<Template & { made: boolean }>;
  /** The image's templates with the space that they take. Reads records only. */
  list(image: string): Promise<Template[]>;
  /** Digests every file of the image and of its templates, and tells which templates this host can use. */
  verify(image: string, scope: Pick<CallScope, "signal" | "progress">): Promise<ImageCheck>;
  /** Removes all templates of the image. `hv.conflict` while a VM needs one; then none is removed. */
  drop(image: string, scope: CallScope): Promise<Removed[]>;
  /**
   * Has so many clones of the image ready, halted, for sandboxes of this size to claim; at most 16, 0 takes them away.
   * The wish lasts: `tendPools` makes good what is claimed.
   */
  keepReady(image: string, size: TemplateSize, count: number, scope: CallScope): Promise<PoolChange>;
  /** Brings all pools that somebody wished for to their size. For a background process to call from time to time. */
  tendPools(scope: CallScope): Promise<PoolChange[]>;
}
