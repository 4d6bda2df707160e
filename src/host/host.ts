/** The one door to the outside: everything that hvlab does beyond its own memory goes through a {@link Host}. */

import type { Clock } from "../base/clock.ts";
import type { Downloads } from "./downloads.ts";
import type { Environment } from "./environment.ts";
import type { Files } from "./files.ts";
import type { Locks } from "./locks.ts";
import type { Machine } from "./machine.ts";
import type { OperatingSystem } from "./operating_system.ts";
import type { Permissions } from "./permissions.ts";
import type { Processes } from "./processes.ts";
import type { Sockets } from "./sockets.ts";
import type { Terminal } from "./terminal.ts";

/** The outside world in parts. Tests put a scripted one in its place. */
export interface Host {
  readonly os: OperatingSystem;
  readonly clock: Clock;
  readonly downloads: Downloads;
  readonly environment: Environment;
  readonly files: Files;
  readonly locks: Locks;
  readonly machine: Machine;
  readonly permissions: Permissions;
  readonly processes: Processes;
  readonly sockets: Sockets;
  readonly terminal: Terminal;
}
