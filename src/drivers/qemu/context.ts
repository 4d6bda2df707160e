/** What every part of the QEMU driver works with. */

import type { Config } from "../../config/config.ts";
import type { VmEvent } from "../../contract/vm.ts";
import type { Host } from "../../host/host.ts";
import type { Findings } from "../../state/findings.ts";
import type { EventQuery } from "../../state/events.ts";
import type { StateFolder } from "../../state/layout.ts";
import type { KeeperCall } from "../background_abilities.ts";

export interface QemuContext {
  readonly host: Host;
  readonly state: StateFolder;
  readonly config: Config;
  readonly findings: Findings;
  /** The history of machines, where there is one. */
  readonly events?: { list(query: EventQuery): Promise<VmEvent[]> };
  /** Calls the keeper; absent in the keeper itself. */
  readonly keeper?: KeeperCall;
  /** hvlab's own version, for the records that it writes. */
  readonly version?: string;
}

/** The program that runs machines, by its usual name. */
export const QEMU = "qemu-system-x86_64";
/** The program that makes and examines disk images. */
export const QEMU_IMG = "qemu-img";
