/** hvlab: argument vector in, exit code out. */

import { openDenoHost } from "./src/host/deno_host.ts";

const { run } = await import("./src/cli/run.ts");

Deno.exit(
  await run(Deno.args, {
    openHost: openDenoHost,
    loadCatalogue: async () => (await import("./src/tools/table.ts")).catalogue,
    runKeeper: async (options) => await (await import("./src/keeper/run.ts")).runKeeperProcess(options),
    startKeeper: async (target) => await (await import("./src/keeper/start.ts")).startKeeper(target),
    serveMcp: async (options) => await (await import("./src/mcp/serve.ts")).serveMcp(options),
  }),
);
