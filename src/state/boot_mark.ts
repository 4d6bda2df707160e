/** What tells one boot of this host from another. */

import { HvError } from "../base/errors.ts";
import type { Host } from "../host/host.ts";

/** A text that stays the same until this host boots again; `undefined` where there is none to be had. */
export type BootMark = () => Promise<string | undefined>;

/** The kernel's boot id on Linux, through `cat`, since Deno itself may not read procfs. */
export async function readBootMark(host: Host): Promise<string | undefined> {
  if (host.os !== "linux") return undefined;
  try {
    const { code, stdout } = await host.processes.run("cat", ["/proc/sys/kernel/random/boot_id"]);
    const mark = new TextDecoder().decode(stdout).trim();
    return code === 0 && mark !== "" ? mark : undefined;
  } catch (error) {
    if (error instanceof HvError) return undefined;
    throw error;
  }
}
