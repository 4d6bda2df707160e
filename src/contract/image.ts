/** Images: what VMs and sandboxes start from. hvlab never writes to an imported image. */

import * as z from "zod/mini";

/** The files of an image by role. A `kernel` image boots directly, a `disk` image through its firmware. */
export const ImageFile = z.object({
  role: z.enum(["disk", "kernel", "fast_kernel", "initrd"]),
  path: z.string(),
  size_bytes: z.int(),
  sha256: z.string(),
  /** The disk's format: `qcow2` or `raw`. */
  format: z.optional(z.string()),
});
export type ImageFile = z.infer<typeof ImageFile>;

export const Image = z.object({
  name: z.string(),
  kind: z.enum(["disk", "kernel"]),
  files: z.array(ImageFile),
  /** The kernel command line of a `kernel` image. */
  append: z.optional(z.string()),
  folder: z.string(),
  size_bytes: z.int(),
  created_at: z.string(),
});
export type Image = z.infer<typeof Image>;
