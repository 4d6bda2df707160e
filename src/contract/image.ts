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

/** A warm template: the image booted once and frozen. Sandboxes of the same size are private copies of it. */
export const Template = z.object({
  image: z.string(),
  /** Digest of everything that the template depends on: QEMU, machine, processor, devices, memory, image. */
  fingerprint: z.string(),
  memory_mb: z.int(),
  cpus: z.int(),
  created_at: z.string(),
  folder: z.string(),
  /** What it really takes on disk; its RAM file has holes. */
  size_bytes: z.int(),
  /** VMs that were made of it and still exist. */
  vms: z.int(),
});
export type Template = z.infer<typeof Template>;

export const Image = z.object({
  name: z.string(),
  kind: z.enum(["disk", "kernel"]),
  files: z.array(ImageFile),
  /** The kernel command line of a `kernel` image. */
  append: z.optional(z.string()),
  /** Where it was downloaded. */
  fetched_from: z.optional(z.string()),
  folder: z.string(),
  size_bytes: z.int(),
  created_at: z.string(),
  /** Its warm templates, where a list shows them. */
  templates: z.optional(z.array(Template)),
});
export type Image = z.infer<typeof Image>;

/** What a thorough look at an image and its templates found. */
export const ImageCheck = z.object({
  image: z.string(),
  /** Whether every file of the image is what was imported. Templates do not count: they can be made anew. */
  sound: z.boolean(),
  files: z.array(z.object({
    role: ImageFile.shape.role,
    path: z.string(),
    sound: z.boolean(),
    /** What is wrong with it. */
    problem: z.optional(z.string()),
  })),
  templates: z.array(z.object({
    fingerprint: z.string(),
    memory_mb: z.optional(z.int()),
    cpus: z.optional(z.int()),
    /** Whether sandboxes of its size start from it on this host now. */
    fits: z.boolean(),
    /** Why it does not. */
    reason: z.optional(z.string()),
  })),
});
export type ImageCheck = z.infer<typeof ImageCheck>;
