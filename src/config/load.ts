/** Finding and reading `hvlab.yaml`. */

import { HvError } from "../base/errors.ts";
import { folderOf, joinPath, nameOf } from "../base/paths.ts";
import type { Host } from "../host/host.ts";
import { type Config, DEFAULT_CONFIG } from "./config.ts";
import type { KnownNames } from "./read_file.ts";

export interface LoadOptions {
  /** The file that `--config` names; it must exist. A relative path is relative to the working folder. */
  path?: string;
  /** Names to check the file's own against. */
  known?: KnownNames;
}

/**
 * The configuration: from `path`, else from `hvlab.yaml` in the platform's config folder, else the default. The
 * working folder is never looked into. Throws `hv.not_found` for a `path` that is not there, `hv.usage` with file,
 * line and column for a file that says something wrong, `hv.permission` or `hv.io` for one that cannot be read.
 */
export async function loadConfig(host: Host, { path, known = {} }: LoadOptions = {}): Promise<Config> {
  const file = path ?? usualFile(host);
  if (file === undefined) return DEFAULT_CONFIG;
  if (path === undefined && await host.files.stat(file) === undefined) return DEFAULT_CONFIG;
  if (file === "" || await host.files.stat(file, { follow: true }) === undefined) {
    throw new HvError("hv.not_found", `Cannot read the configuration "${file}": it does not exist`, {
      hint: path === undefined ? "Repair or remove the link" : "Check the path given with --config",
      context: { file },
    });
  }
  const { readConfigFile } = await import("./read_file.ts");
  return await readConfigFile(host, await fullPath(host, file), known);
}

/** The usual place; `undefined` where the platform's own variables are not set, so that no folder is known. */
function usualFile(host: Host): string | undefined {
  try {
    return joinPath(host.environment.configFolder(), "hvlab.yaml");
  } catch (error) {
    if (error instanceof HvError && error.code === "hv.unavailable") return undefined;
    throw error;
  }
}

/** The file's own name stays, also where it is a link: paths in the file are relative to where it seems to lie. */
async function fullPath(host: Host, file: string): Promise<string> {
  return joinPath(await host.files.realPath(folderOf(file)), nameOf(file));
}
