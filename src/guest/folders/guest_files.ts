/** Who knows how to copy folders of a guest. */

import { HvError } from "../../base/errors.ts";
import type { GuestChannel, GuestFiles } from "../channel.ts";

/** The channel's own way, else that of its guest's family. */
export async function guestFilesFor({ name, family, folders }: GuestChannel): Promise<GuestFiles> {
  if (folders !== undefined) return folders;
  if (family === "posix") return (await import("../posix/folders.ts")).POSIX_FILES;
  throw new HvError("hv.unsupported", `The channel "${name}" copies no folders to and from Windows guests`, {
    hint: "Pack the folder into one file, and copy that",
    context: { channel: name, family },
  });
}
