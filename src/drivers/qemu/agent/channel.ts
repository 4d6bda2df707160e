/** The QEMU guest agent as a way into a guest. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import type { AgentFacts, GuestChannel } from "../../../guest/channel.ts";
import { TEMPORARY_FOLDER } from "../../../guest/posix/files.ts";
import type { Host } from "../../../host/host.ts";
import { refused } from "./errors.ts";
import { execThroughAgent } from "./exec.ts";
import { execPrepared, inputPlaces } from "./prepared.ts";
import { readGuestFile, removeGuestFile, writeGuestFile } from "./files.ts";
import { type AgentAddress, AgentLink } from "./link.ts";

export type { AgentAddress } from "./link.ts";

/** How long one ping may go unanswered before the conversation is begun anew. */
const PING_LIMIT_MS = 5_000;

/** All channels of this process to one socket share a connection, since the agent pauses after each. */
const links = new WeakMap<Host, Map<string, AgentLink>>();

/**
 * Opens a channel through the agent that listens on `socket`. Nothing is connected before the first call, and
 * calls may overlap. Commands and files need a Linux guest with /bin/sh; others answer `hv.unsupported`.
 */
export function openAgentChannel(address: AgentAddress): GuestChannel {
  const { host: { clock } } = address;
  const link = linkFor(address);
  return {
    name: "agent",
    family: "posix",
    ping: (signal) => ping(link, signal),
    exec: (command, sinks, signal) =>
      command.stdin === undefined && command.run_as === undefined
        ? execThroughAgent(link, clock, command, sinks, signal)
        : execPrepared(link, clock, command, sinks, signal),
    inputPlaces,
    async writeFile(path, feed, options, signal) {
      await link.takeSleeper()?.wake(signal);
      await link.traces.tidyUp(link, clock, signal);
      await writeGuestFile(link, clock, path, feed, options, signal);
    },
    async readFile(path, sink, signal) {
      await link.takeSleeper()?.wake(signal);
      await link.traces.tidyUp(link, clock, signal);
      await readGuestFile(link, clock, path, sink, signal);
    },
    async removeFile(path, signal) {
      await link.takeSleeper()?.wake(signal);
      await removeGuestFile(link, clock, path, signal);
    },
    temporaryFolder: () => Promise.resolve(TEMPORARY_FOLDER),
    describe: (signal) => describe(link, signal),
    close: () => link.close(),
  };
}

/** The connection behind the channels to one agent, for requests that a channel has no words for. */
export function linkFor(address: AgentAddress): AgentLink {
  const ofHost = links.get(address.host) ?? new Map<string, AgentLink>();
  links.set(address.host, ofHost);
  const known = ofHost.get(address.socket);
  if (known !== undefined) return known;
  const link = new AgentLink(address);
  ofHost.set(address.socket, link);
  return link;
}

/** Gives back every agent connection that this process holds open and no call is using. */
export function closeLinks(host: Host): void {
  for (const link of links.get(host)?.values() ?? []) link.close();
}

const GuestInfo = z.object({
  version: z.string(),
  supported_commands: z.array(z.object({ name: z.string(), enabled: z.boolean() })),
});

async function describe(link: AgentLink, signal: AbortSignal): Promise<AgentFacts> {
  const [answer] = await link.ask([{ name: "guest-info" }], { signal });
  if (!answer.ok) throw refused("guest-info", answer);
  const { version, supported_commands: all } = GuestInfo.parse(answer.value);
  return { version, commands: all.flatMap(({ name, enabled }) => enabled ? [name] : []).sort() };
}

/** Waits as long as the signal allows: the question lies in the socket before the guest has booted. */
async function ping(link: AgentLink, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      const round = { signal, limitMs: PING_LIMIT_MS, patienceMs: Infinity };
      const [answer] = await link.ask([{ name: "guest-ping" }], round);
      if (!answer.ok) throw refused("guest-ping", answer);
      return;
    } catch (error) {
      if (!(error instanceof HvError && error.code === "hv.guest_not_ready")) throw error;
    }
  }
}
