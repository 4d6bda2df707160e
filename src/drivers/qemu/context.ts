/** What every part of the QEMU driver works with. */

import type { Config } from "../../config/config.ts";
import type { Host } from "../../host/host.ts";
import type { Findings } from "../../state/findings.ts";
import type { StateFolder } from "../../state/layout.ts";

export interface QemuContext {
  readonly host: Host;
  readonly state: StateFolder;
  readonly config: Config;
  readonly findings: Findings;
  /** hvlab's own version, for the records that it writes. */
  readonly version?: string;
}

/** The program that runs machines, by its usual name. */
export const QEMU = "qemu-system-x86_64";
/** The program that makes and examines disk images. */
export const QEMU_IMG = "qemu-img";
