/** How the MCP server is started as a process: the program as it is released, or on the driver in memory. */

import { readPermissionFlags } from "../../tools/permissions.ts";
import { ROOT } from "../../tools/programs.ts";

/** A program with its arguments, ready to be started. */
export interface ServerCommand {
  program: string;
  args: string[];
  env: Record<string, string>;
}

const BUNDLE = `${ROOT}/dist/bundle/main.js`;
const CONFIG = `--config=${ROOT}/deno.json`;

/** `hvlab mcp` with the release's permissions: the bundle when it is newer than its source, else the source. */
export async function productServer(state: string, flags: readonly string[] = []): Promise<ServerCommand> {
  const entry = await isBundleCurrent() ? BUNDLE : `${ROOT}/main.ts`;
  return {
    program: Deno.execPath(),
    args: ["run", ...readPermissionFlags(), CONFIG, entry, "mcp", ...flags],
    env: environment(state),
  };
}

/** A server on a clock that is so much slower waits long enough on a busy machine too: for calls that end, for its host to read. */
export const SLOWNESS = 10;

/** The same server with guests in memory, on a clock that is so much slower. */
export function memoryServer(state: string, slowness = 1): ServerCommand {
  const entry = `${ROOT}/tests/mcp/memory_server.ts`;
  return {
    program: Deno.execPath(),
    args: ["run", "--no-prompt", "--quiet", "-A", CONFIG, entry, state, String(slowness)],
    env: environment(state),
  };
}

/** What a server needs beyond the environment that hosts pass on, with no folder of the user's own in reach. */
function environment(state: string): Record<string, string> {
  const cache = Deno.env.get("DENO_DIR");
  return {
    HVLAB_STATE: state,
    XDG_CONFIG_HOME: `${state}/config`,
    NO_COLOR: "1",
    RUST_BACKTRACE: "0",
    ...(cache === undefined ? {} : { DENO_DIR: cache }),
  };
}

async function isBundleCurrent(): Promise<boolean> {
  const built = await changedAt(BUNDLE);
  if (built === undefined) return false;
  const sources = [`${ROOT}/main.ts`, ...await filesUnder(`${ROOT}/src`)];
  const changes = await Promise.all(sources.map(changedAt));
  return changes.every((changed) => changed === undefined || changed <= built);
}

async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await Deno.stat(path)).mtime?.getTime();
  } catch {
    return undefined;
  }
}

async function filesUnder(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await filesUnder(path));
    else found.push(path);
  }
  return found;
}
