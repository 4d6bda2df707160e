/**
 * A process that dies as soon as the guest agent has been sent a request: of a program's start, or of a file that is written.
 * Arguments: the agent's socket, the request's name.
 */

import { openAgentChannel } from "../../src/drivers/qemu/agent/channel.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import type { Connection, Sockets } from "../../src/host/sockets.ts";

if (import.meta.main) {
  const [socket = "", request = ""] = Deno.args;
  const host = openDenoHost();
  const channel = openAgentChannel({
    host: { ...host, sockets: deadlySockets(host.sockets, `"execute":"${request}"`) },
    socket,
    lock: `${socket}.lock`,
    isCrashed: () => Promise.resolve(undefined),
  });
  const { signal } = new AbortController();
  const nowhere = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  if (request === "guest-exec") await channel.exec({ argv: ["true"] }, nowhere, signal);
  const feed = (): Promise<Uint8Array> => Promise.resolve(new Uint8Array(1024));
  await channel.writeFile("/tmp/death", feed, { overwrite: false }, signal);
}

function deadlySockets(sockets: Sockets, word: string): Sockets {
  return {
    ...sockets,
    async connectUnix(path) {
      const connection = await sockets.connectUnix(path);
      return connection === undefined ? undefined : deadly(connection, word);
    },
  };
}

function deadly(connection: Connection, word: string): Connection {
  return {
    ...connection,
    async write(bytes) {
      await connection.write(bytes);
      if (new TextDecoder().decode(bytes).includes(word)) Deno.kill(Deno.pid, "SIGKILL");
    },
  };
}
