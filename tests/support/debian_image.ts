/** The guest `debian`, when it has been built: the file that HVLAB_DEBIAN names, else `dist/debian/debian.qcow2`. */

import { hasProgram } from "./tiny_image.ts";

/** Its disk; `undefined` where it has not been built or cannot run. */
export function findDebianDisk(): string | undefined {
  const built = new URL("../../dist/debian/debian.qcow2", import.meta.url);
  const path = Deno.env.get("HVLAB_DEBIAN") || decodeURIComponent(built.pathname);
  try {
    return Deno.statSync(path).isFile && hasProgram("qemu-system-x86_64") && hasProgram("qemu-img")
      ? path
      : undefined;
  } catch {
    return undefined;
  }
}

/** Why its tests are skipped, as a part of their names; empty when they run. */
export const NO_DEBIAN = findDebianDisk() === undefined
  ? " (skipped: dist/debian is not built, sh tools/image-debian.sh does)"
  : "";
