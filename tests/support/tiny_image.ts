/** The tiny guest, when it has been built: in the folder that HVLAB_TINY names, else in `dist/tiny`. */

import type { ImageSource } from "../../src/drivers/driver.ts";

const REPOSITORY = new URL("../../", import.meta.url);

/** The files of the tiny guest as an import takes them; `undefined` when it has not been built. */
export function findTinyImage(name = "tiny"): ImageSource | undefined {
  const folder = Deno.env.get("HVLAB_TINY") || decodeURIComponent(new URL("dist/tiny", REPOSITORY).pathname);
  const file = (part: string): string => `${folder}/${part}`;
  try {
    for (const part of ["vmlinuz", "vmlinux", "initrd"]) Deno.statSync(file(part));
    return {
      name,
      kernel: file("vmlinuz"),
      fast_kernel: file("vmlinux"),
      initrd: file("initrd"),
      append: Deno.readTextFileSync(file("append")).trim(),
    };
  } catch {
    return undefined;
  }
}

/** Whether real guests can run here at all: the image is built and QEMU is installed. */
export function canRunGuests(): boolean {
  return findTinyImage() !== undefined && hasProgram("qemu-system-x86_64") && hasProgram("qemu-img");
}

/** Whether a program of this name is on PATH. */
export function hasProgram(name: string): boolean {
  return (Deno.env.get("PATH") ?? "").split(":").some((folder) => {
    try {
      return Deno.statSync(`${folder}/${name}`).isFile;
    } catch {
      return false;
    }
  });
}
