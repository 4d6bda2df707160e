/** `hvlab mcp` on the driver in memory: the product's server as a process, with guests that need no machine. */

import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { serveMcp } from "../../src/mcp/serve.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { openHurriedHost } from "../support/hurried_host.ts";
import { MemoryDriver } from "../support/memory_driver.ts";

const [state = "", slowness = "1"] = Deno.args;
const driver = new MemoryDriver();

Deno.exit(
  await serveMcp({
    host: openHurriedHost(1 / Number(slowness)),
    config: DEFAULT_CONFIG,
    state: new StateFolder(state),
    toolsets: [],
    readOnly: false,
    version: "0.0.0-test",
    openDriver: () => Promise.resolve(driver),
  }),
);
