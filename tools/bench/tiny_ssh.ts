/** SSH into a tiny guest: hvlab's channel, and the same client's words for whoever uses it by hand. */

import { joinPath } from "../../src/base/paths.ts";
import type { GuestChannel } from "../../src/guest/channel.ts";
import { openSshChannel } from "../../src/guest/ssh/channel.ts";
import { sshArguments } from "../../src/guest/ssh/client.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import type { PlainMachine } from "../../tests/support/plain_qemu.ts";

/** A channel that has answered, and what `ssh -T` takes for a connection of its own, started in `folder`. */
export interface TinySsh {
  channel: ReturnType<typeof openSshChannel>;
  folder: string;
  words: string[];
}

/** Opens it; `sponsor` lets the key in. The caller closes the channel. */
export async function openTinySsh(
  machine: PlainMachine,
  sponsor: GuestChannel,
  limitMs: number,
): Promise<TinySsh> {
  const folder = joinPath(machine.folder, "ssh");
  const place = { address: "127.0.0.1", port: machine.sshPort };
  const channel = openSshChannel({
    host: openDenoHost(),
    folder,
    alias: "tiny",
    login: { user: "root" },
    password: () => Promise.resolve(undefined),
    sponsor,
    reach: () => Promise.resolve({ ...place, [Symbol.asyncDispose]: () => Promise.resolve() }),
  });
  await channel.ping(AbortSignal.timeout(limitMs));
  const words = sshArguments({
    hostname: place.address,
    port: place.port,
    user: "root",
    alias: "tiny",
    pinned: true,
    usesPassword: false,
    control: "by-hand",
  });
  return { channel, folder, words };
}
