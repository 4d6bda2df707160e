/** A guest's folder that can always be made, as that of a driver that keeps no folder for the VM itself. */

import type { GuestFolder } from "../../src/guest/guest_folder.ts";
import { denoFiles } from "../../src/host/files.ts";

export function plainGuestFolder(path: string): GuestFolder {
  return { path, make: () => denoFiles.makeFolder(path) };
}
