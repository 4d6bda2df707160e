/** Free room on this host's disks. */

import type { Host } from "../../host/host.ts";
import { parseFreeBytes } from "./diagnose.ts";

/** The bytes that are free for a folder's files; `undefined` where `df` gives no answer. */
export async function readFreeBytes(
  host: Host,
  folder: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (host.os === "windows") return undefined;
  try {
    const { stdout } = await host.processes.run("df", ["-Pk", "--", folder], {
      signal,
      env: { LC_ALL: "C" },
    });
    return parseFreeBytes(new TextDecoder().decode(stdout));
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
