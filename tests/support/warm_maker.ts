/**
 * A process of its own that makes a warm template, so that it can be killed on the way. Arguments: state folder,
 * runtime folder. It says on standard output what it is doing, a line each.
 */

import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { openDriver } from "../../src/drivers/index.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { MemoryFindings } from "./qemu_context.ts";

const [stateFolder = "", runtimeFolder = ""] = Deno.args;
const real = openDenoHost();
const { environment } = real;
const driver = await openDriver("qemu", {
  host: {
    ...real,
    environment: {
      get: (name) => environment.get(name),
      configFolder: () => environment.configFolder(),
      stateFolder: () => environment.stateFolder(),
      runtimeFolder: () => runtimeFolder,
    },
  },
  state: new StateFolder(stateFolder),
  config: DEFAULT_CONFIG,
  findings: new MemoryFindings(),
});
const output = new TextEncoder();
await driver.templates?.warm("tiny", { memory_mb: 128, cpus: 1 }, {
  signal: AbortSignal.timeout(600_000),
  progress: ({ message }) => {
    Deno.stdout.writeSync(output.encode(`${message}\n`));
  },
});
await driver.close();
