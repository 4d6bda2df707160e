/** Drivers by name, each loaded when it is used, and the default one of this host. */

import { HvError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../host/host.ts";
import type { Findings } from "../state/findings.ts";
import type { StateFolder } from "../state/layout.ts";
import type { EventQuery } from "../state/events.ts";
import type { VmEvent } from "../contract/vm.ts";
import type { KeeperCall } from "./background_abilities.ts";
import type { Driver } from "./driver.ts";

/** What every driver is opened with. */
export interface DriverOptions {
  host: Host;
  config: Config;
  state: StateFolder;
  findings: Findings;
  /** The history that a keeper writes; a driver without one has no events. */
  events?: { list(query: EventQuery): Promise<VmEvent[]> };
  /** Calls the keeper; absent where there is none to call, as in the keeper itself. */
  keeper?: KeeperCall;
}

const DRIVERS: ReadonlyMap<string, (options: DriverOptions) => Promise<Driver>> = new Map([
  ["qemu", async (options) => (await import("./qemu/driver.ts")).openQemuDriver(options)],
  ["hyperv", async (options) => (await import("./hyperv/driver.ts")).openHyperVDriver(options)],
]);

/** The names that `--driver` takes. */
export const DRIVER_NAMES: readonly string[] = [...DRIVERS.keys()];

/** Opens the named driver, or this host's default. Touches nothing on the host by itself. */
export async function openDriver(name: string | undefined, options: DriverOptions): Promise<Driver> {
  const wanted = name ?? (options.host.os === "windows" ? "hyperv" : "qemu");
  const open = DRIVERS.get(wanted);
  if (open !== undefined) return await open(options);
  const near = suggest(wanted, DRIVER_NAMES);
  throw new HvError("hv.usage", `There is no driver "${wanted}"`, {
    hint: near === undefined ? `Drivers are ${DRIVER_NAMES.join(", ")}` : `Did you mean "${near}"?`,
    context: { driver: wanted, known: [...DRIVER_NAMES] },
  });
}
