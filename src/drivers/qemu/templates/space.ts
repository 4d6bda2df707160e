/** Room for a template, looked for before its guest is booted: a disk that fills up later ends QEMU without a word. */

import { HvError } from "../../../base/errors.ts";
import type { Host } from "../../../host/host.ts";
import { readFreeBytes } from "../space.ts";

/** Throws `hv.io` when a folder has no room for a file of the guest's memory. A `df` that gives no answer is no reason. */
export async function requireSpace(
  host: Host,
  folder: string,
  memory_mb: number,
  signal: AbortSignal,
): Promise<void> {
  const free = await readFreeBytes(host, folder, signal);
  const wanted = memory_mb * 1024 * 1024;
  if (free === undefined || free >= wanted) return;
  const free_mb = Math.floor(free / 1024 ** 2);
  throw new HvError(
    "hv.io",
    `There is no room for the guest's memory under "${folder}": wanted ${memory_mb} MiB, found ${free_mb} MiB free`,
    {
      hint: "Free some space, warm with less memory, or name another state folder with HVLAB_STATE",
      context: { path: folder, wanted_bytes: wanted, free_bytes: free },
    },
  );
}
