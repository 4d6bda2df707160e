/** Paths of this host that a call gives, as the sidecar is told them. */

import { HvError } from "../../base/errors.ts";
import { nameOf, resolvePath, resolveWindowsPath } from "../../base/paths.ts";
import { refuseWindowsName } from "../../base/windows_names.ts";
import type { Host } from "../../host/host.ts";

/**
 * The whole path. The sidecar has a working folder of its own, and compares paths with those that Hyper-V tells:
 * `D:/a.vhdx`, `D:\b\..\a.vhdx` and `\a.vhdx` would be other disks than `D:\a.vhdx`, on which VMs hang. Throws
 * `hv.usage` for a drive without a root.
 */
export async function fullPath({ os, files }: Pick<Host, "os" | "files">, path: string): Promise<string> {
  const working = await files.realPath(".");
  return os === "windows" ? resolveWindowsPath(working, path) : resolvePath(working, path);
}

/** The whole path of what is to be made. Throws `hv.usage` as well for a name that Windows cannot have. */
export async function fullNewPath(host: Pick<Host, "os" | "files">, path: string): Promise<string> {
  const full = await fullPath(host, path);
  refuseName(nameOf(full), "a file or folder", { path });
  return full;
}

/** Throws `hv.usage` for a name that Windows cannot have. `what` says what would bear it. */
export function refuseName(name: string, what: string, context: Record<string, string>): void {
  const reason = refuseWindowsName(name);
  if (reason === undefined) return;
  throw new HvError("hv.usage", `Windows cannot have ${what} named ${JSON.stringify(name)}: ${reason}`, {
    hint: "Choose another name",
    context: { ...context, name },
  });
}
