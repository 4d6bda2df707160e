/** A channel around another one. */

import type { GuestChannel } from "./channel.ts";

/** What a channel is asked to do. */
export type ChannelWork = "ping" | "exec" | "writeFile" | "readFile" | "removeFile" | "attach" | "describe";

/** Does something before, after or about a piece of work. */
export type Around = <T>(name: ChannelWork, work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** The same channel with all of its work done inside `around`. */
export function surroundChannel(channel: GuestChannel, around: Around): GuestChannel {
  const { name, family, folders, as, attach, describe, inputPlaces } = channel;
  return {
    name,
    family,
    ping: (signal) => around("ping", () => channel.ping(signal), signal),
    exec: (command, sinks, signal) => around("exec", () => channel.exec(command, sinks, signal), signal),
    writeFile: (path, feed, options, signal) =>
      around("writeFile", () => channel.writeFile(path, feed, options, signal), signal),
    readFile: (path, sink, signal) => around("readFile", () => channel.readFile(path, sink, signal), signal),
    removeFile: (path, signal) => around("removeFile", () => channel.removeFile(path, signal), signal),
    temporaryFolder: (signal) => channel.temporaryFolder(signal),
    ...(attach === undefined ? {} : {
      attach: (command, signal) => around("attach", () => attach.call(channel, command, signal), signal),
    }),
    ...(describe === undefined ? {} : {
      describe: (signal) => around("describe", () => describe.call(channel, signal), signal),
    }),
    ...(as === undefined
      ? {}
      : { as: async (user) => surroundChannel(await as.call(channel, user), around) }),
    ...(folders === undefined ? {} : { folders }),
    ...(inputPlaces === undefined ? {} : { inputPlaces }),
    close: () => channel.close(),
  };
}
