/** A process that runs a shell's script in a guest and passes its output on. Arguments: the agent's socket, the script. */

import { openAgentChannel } from "../../src/drivers/qemu/agent/channel.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";

if (import.meta.main) {
  const [socket = "", script = ""] = Deno.args;
  const channel = openAgentChannel({
    host: openDenoHost(),
    socket,
    lock: `${socket}.lock`,
    isCrashed: () => Promise.resolve(undefined),
  });
  const stdout = async (bytes: Uint8Array): Promise<void> => void await Deno.stdout.write(bytes);
  const sinks = { stdout, stderr: () => Promise.resolve() };
  await channel.exec({ argv: ["sh", "-c", script] }, sinks, new AbortController().signal);
}
