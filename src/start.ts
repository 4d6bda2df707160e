/** The program put together: the command line with the real host, all tools, the keeper and the MCP server. */

import { run } from "./cli/run.ts";
import { openDenoHost } from "./host/deno_host.ts";
import { catalogue } from "./tools/table.ts";

/** Does what an argument vector says and answers the exit code. */
export async function start(argv: readonly string[]): Promise<number> {
  return await run(argv, {
    openHost: openDenoHost,
    catalogue,
    runKeeper: async (options) => await (await import("./keeper/run.ts")).runKeeperProcess(options),
    startKeeper: async (target) => await (await import("./keeper/start.ts")).startKeeper(target),
    startFollower: async (target, op) => await (await import("./keeper/start.ts")).startFollower(target, op),
    serveMcp: async (options) => await (await import("./mcp/serve.ts")).serveMcp(options),
  });
}
