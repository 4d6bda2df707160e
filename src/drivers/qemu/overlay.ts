/** Copy-on-write disks over the disk of an image, which itself is never written. */

import { HvError } from "../../base/errors.ts";
import type { Image } from "../../contract/image.ts";
import { DISK_NODE, VARIABLES_NODE } from "./launch/block_words.ts";
import { QEMU_IMG, type QemuContext } from "./context.ts";
import { findQemuImg } from "./launch/program.ts";

export const OVERLAY_FILE = "disk.qcow2";
/** The UEFI variables of a VM that has any. */
export const VARIABLES_FILE = "uefi-variables.qcow2";

/** The files that a VM can write, with their block nodes in a running machine. */
export const DISK_FILES = [
  { node: DISK_NODE, file: OVERLAY_FILE },
  { node: VARIABLES_NODE, file: VARIABLES_FILE },
] as const;

/** A disk that an overlay hangs on. */
export interface BaseDisk {
  path: string;
  format: string;
}

/** The disk of an image. */
export function diskOf(image: Image): BaseDisk {
  const disk = image.files.find((file) => file.role === "disk");
  if (disk === undefined) {
    throw new HvError("hv.bad_image", `The image "${image.name}" names no disk`, {
      hint: "Import the image anew",
      context: { image: image.name, reason: "no_disk" },
    });
  }
  return { path: disk.path, format: disk.format ?? "raw" };
}

/** Makes an empty overlay at `path`. The backing format is written down, so that QEMU never guesses it. */
export async function makeOverlay(
  context: QemuContext,
  base: BaseDisk,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await findQemuImg(context);
  const { host } = context;
  const args = ["create", "-q", "-f", "qcow2", "-b", base.path, "-F", base.format, path];
  const finished = await host.processes.run(QEMU_IMG, args, { signal });
  if (finished.code === 0) return;
  await host.files.remove(path);
  const words = new TextDecoder().decode(finished.stderr).trim();
  const full = words.includes("No space left on device");
  throw new HvError(full ? "hv.io" : "hv.job_failed", `Cannot make the overlay "${path}": ${words}`, {
    hint: full ? "Free some space" : "Correct what qemu-img names, and try again",
    context: { path, base: base.path, ...(full ? { reason: "disk_full" } : {}) },
  });
}
