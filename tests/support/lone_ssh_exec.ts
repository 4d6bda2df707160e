/** A process that runs a shell's script in a guest over SSH and passes its output on. Arguments: the guest's port, the folder of keys, the script. */

import { openSshChannel } from "../../src/guest/ssh/channel.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";

if (import.meta.main) {
  const [port = "", folder = "", script = ""] = Deno.args;
  const channel = openSshChannel({
    host: openDenoHost(),
    folder,
    alias: "tiny",
    login: { user: "root" },
    password: () => Promise.resolve(undefined),
    reach: () =>
      Promise.resolve({
        address: "127.0.0.1",
        port: Number(port),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  });
  const stdout = async (bytes: Uint8Array): Promise<void> => void await Deno.stdout.write(bytes);
  const sinks = { stdout, stderr: () => Promise.resolve() };
  await channel.exec({ argv: ["sh", "-c", script] }, sinks, new AbortController().signal);
}
