/** What a driver with the feature `templates` must do. */

import type { ImageCheck, Template } from "../contract/image.ts";
import type { Removed } from "../contract/vm.ts";
import type { CallScope } from "./driver.ts";

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
}
