/** What a guest program reads: a file of this host, or our own standard input. */

import { HvError } from "../../base/errors.ts";
import type { ByteFeed } from "../../guest/channel.ts";
import type { Host } from "../../host/host.ts";

/** What is read from the host's disk at once. */
const PART_BYTES = 64 * 1024;

/** An input that is open. */
export interface GuestInput extends Disposable {
  feed: ByteFeed;
}

/**
 * Opens a file, or with `-` our standard input, which only a command line has. Throws `hv.not_found` for a file that is
 * not there and `hv.usage` for what cannot be read from start to end.
 */
export async function openInput(host: Host, source: string, hasOwnInput: boolean): Promise<GuestInput> {
  if (source === "-") {
    if (hasOwnInput) return { feed: () => host.terminal.readBytes(), [Symbol.dispose]: () => {} };
    throw new HvError("hv.usage", "There is no standard input behind this call", {
      hint: "Name a file of this host",
      context: { stdin: source },
    });
  }
  const facts = await host.files.stat(source, { follow: true });
  if (facts === undefined) {
    throw new HvError("hv.not_found", `There is no file "${source}" on this host`, {
      hint: "Check the path",
      context: { path: source },
    });
  }
  if (facts.kind !== "file") {
    throw new HvError("hv.usage", `"${source}" is no ordinary file`, {
      hint: "Name a file, or - for standard input",
      context: { path: source, found: facts.kind },
    });
  }
  const file = host.files.open(source);
  let at = 0;
  return {
    feed: () => {
      const part = file.read(at, PART_BYTES);
      at += part.length;
      return Promise.resolve(part.length === 0 ? null : part);
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
  };
}
