/** What the program hands to the command line, and what each command works with. */

import { HvError } from "../base/errors.ts";
import { isAbsolutePath, joinPath } from "../base/paths.ts";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load.ts";
import { DRIVER_NAMES, type openDriver } from "../drivers/index.ts";
import type { Host } from "../host/host.ts";
import { StateFolder } from "../state/layout.ts";
import type { Catalogue } from "../tools/tool.ts";
import type { StartFollower } from "../tools/detached.ts";
import type { StartKeeper } from "../tools/keeper_caller.ts";
import type { GlobalOptions } from "./globals.ts";

/** What `hvlab mcp` starts the server with. */
export interface ServeOptions {
  host: Host;
  config: Config;
  state: StateFolder;
  driverName?: string;
  toolsets: readonly string[];
  readOnly: boolean;
  version: string;
  startKeeper?: StartKeeper;
  startFollower?: StartFollower;
}

/** What the keeper's own process starts with. */
export type KeepOptions = Pick<ServeOptions, "host" | "config" | "state" | "driverName">;

/** The parts that the entry file plugs in; tests plug in their own. */
export interface Surroundings {
  /** Opens the host; `programs` are the full paths that the configuration gives. */
  openHost: (programs?: ReadonlyMap<string, string>) => Host;
  catalogue: Catalogue;
  serveMcp: (options: ServeOptions) => Promise<number>;
  openDriver?: typeof openDriver;
  /** Is the keeper until it is needed no more. */
  runKeeper?: (options: KeepOptions) => Promise<number>;
  /** Starts a keeper as a process of its own; without it none is ever started. */
  startKeeper?: StartKeeper;
  /** Starts a process that goes on with a detached call; without it none can be detached. */
  startFollower?: StartFollower;
}

/** The host as the configuration wants it, and the configuration. */
export interface Settings {
  host: Host;
  config: Config;
}

/** Reads the configuration, and opens the host again when it names programs. */
export async function loadSettings(
  { openHost }: Surroundings,
  host: Host,
  options: GlobalOptions,
  catalogue: Catalogue,
): Promise<Settings> {
  // Looked at before any call, since not every command opens a driver.
  if (options.driver !== undefined && !DRIVER_NAMES.includes(options.driver)) {
    throw (await import("./refused_settings.ts")).unknownDriver(options.driver);
  }
  const config = await loadConfig(host, {
    known: { tools: catalogue.names, drivers: DRIVER_NAMES },
    ...(options.config === undefined ? {} : { path: options.config }),
  });
  return { config, host: config.programs.size === 0 ? host : openHost(config.programs) };
}

/**
 * The state folder: `--state`, else `HVLAB_STATE`, else the configuration's, else the platform's. Relative paths
 * are made absolute, since machines outlive the working folder of this process. Throws `hv.usage` for something else
 * than a folder, where nothing would be found and nothing could be kept.
 */
export async function findStateFolder(settings: Settings, options: GlobalOptions): Promise<StateFolder> {
  const state = await nameStateFolder(settings, options);
  const facts = await settings.host.files.stat(state.root, { follow: true });
  if (facts === undefined || facts.kind === "folder") return state;
  throw (await import("./refused_settings.ts")).noStateFolder(state.root, facts.kind);
}

async function nameStateFolder(
  { host, config }: Settings,
  options: GlobalOptions,
): Promise<StateFolder> {
  const named = options.state ?? host.environment.get("HVLAB_STATE") ?? config.state ?? undefined;
  if (named === "") {
    throw new HvError("hv.usage", "The state folder has an empty name", { hint: "Write --state=FOLDER" });
  }
  const path = named ?? host.environment.stateFolder();
  return new StateFolder(isAbsolutePath(path) ? path : joinPath(await host.files.realPath("."), path));
}

/** As {@link findStateFolder}, for tools that never look into it: a missing home folder does not stop them. */
export async function findUnusedStateFolder(
  settings: Settings,
  options: GlobalOptions,
): Promise<StateFolder> {
  try {
    return await nameStateFolder(settings, options);
  } catch (error) {
    if (error instanceof HvError && error.code === "hv.unavailable") return new StateFolder("");
    throw error;
  }
}
