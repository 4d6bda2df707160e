/** Running a program of a guest as somebody else than the channel is logged in as. */

import type { GuestChannel } from "../../guest/channel.ts";

/** A channel, and the user that is still to be named to it. */
export interface UserWay {
  channel: GuestChannel;
  run_as?: string;
}

/**
 * The channel itself where it has the privilege; where Windows wants that user's own login, one that is logged in with what is
 * stored of it, which `warn` is told. Throws `hv.unsupported` when nothing is stored.
 */
export async function wayOfUser(
  channel: GuestChannel,
  user: string | undefined,
  warn: (text: string) => void,
): Promise<UserWay> {
  if (user === undefined) return { channel };
  if (channel.as === undefined) return { channel, run_as: user };
  const own = await channel.as(user);
  warn(`It ran in a session of its own, logged in as "${user}" with the stored password`);
  return { channel: own };
}
