/** The real {@link Host}. */

import { systemClock } from "./clock.ts";
import type { Downloads } from "./downloads.ts";
import { DenoEnvironment } from "./environment.ts";
import { denoFiles } from "./files.ts";
import type { Host } from "./host.ts";
import { thisOperatingSystem } from "./operating_system.ts";
import { FileLocks } from "./locks.ts";
import { denoMachine } from "./machine.ts";
import { denoPermissions } from "./permissions.ts";
import { DenoProcesses } from "./processes.ts";
import { denoSockets } from "./sockets.ts";
import { denoTerminal } from "./terminal.ts";

/** Few calls download anything: its code comes with the first one. */
const lateDownloads: Downloads = {
  async open(address, request) {
    const { denoDownloads } = await import("./downloads.ts");
    return await denoDownloads.open(address, request);
  },
};

/**
 * Opens the door to the real machine; touches nothing by itself. `programs` maps usual program names to the
 * full paths that the configuration gives for them.
 */
export function openDenoHost(programs: ReadonlyMap<string, string> = new Map()): Host {
  const os = thisOperatingSystem();
  const environment = new DenoEnvironment(os);
  return {
    os,
    clock: systemClock,
    downloads: lateDownloads,
    environment,
    files: denoFiles,
    locks: new FileLocks(systemClock),
    machine: denoMachine,
    permissions: denoPermissions,
    processes: new DenoProcesses(os, () => environment.get("PATH"), programs),
    sockets: denoSockets,
    terminal: denoTerminal,
  };
}
