/** Looking into a guest without changing anything there. */

import type { GuestInfo } from "../../contract/guest_info.ts";
import type { AgentFacts, GuestChannel, GuestFamily } from "../../guest/channel.ts";
import type { Inspection } from "../../guest/inspection.ts";
import { type AccessFacts, type AccessWish, type GuestScope, useGuest } from "./use_guest.ts";

/** How long the agent may take to say what it is, when the question itself went another way. */
const AGENT_LIMIT_MS = 3_000;

/** Has `work` ask the collectors of the guest's family over the way that serves best. */
export async function inspectGuest<T extends object>(
  scope: GuestScope,
  access: AccessWish,
  work: (channel: GuestChannel, inspection: Inspection) => Promise<T>,
): Promise<T & AccessFacts> {
  return await useGuest(
    { ...scope, remembers: false },
    access,
    async (channel) => await work(channel, await inspectionFor(channel.family)),
  );
}

/** What a guest is. Its clock is compared with ours at the middle of the time that the question took. */
export async function describeGuest(
  scope: GuestScope,
  access: AccessWish,
  signal: AbortSignal,
): Promise<GuestInfo> {
  const { clock } = scope.host;
  return await inspectGuest(scope, access, async (channel, inspection) => {
    const asked = clock.now();
    const started = clock.monotonic();
    const { clock_ms, clock_step_ms: step, ...facts } = await inspection.info(channel, signal);
    const half = (clock.monotonic() - started) / 2;
    const agent = await lookAtAgent(scope, channel, signal);
    return {
      family: channel.family,
      ...facts,
      clock: {
        time: new Date(clock_ms).toISOString(),
        skew_ms: Math.round(asked + half - (clock_ms + (step > 1 ? step / 2 : 0))),
        uncertain_by_ms: Math.ceil(half + step / 2),
      },
      ...(agent === undefined ? {} : { agent }),
    };
  });
}

/** The collectors for guests of a family. */
async function inspectionFor(family: GuestFamily): Promise<Inspection> {
  return family === "posix"
    ? (await import("../../guest/posix/inspection.ts")).POSIX_INSPECTION
    : (await import("../../guest/windows/inspection.ts")).WINDOWS_INSPECTION;
}

/** A guest whose agent does not answer is described without it. */
async function lookAtAgent(
  { driver, vm }: GuestScope,
  channel: GuestChannel,
  signal: AbortSignal,
): Promise<AgentFacts | undefined> {
  if (channel.describe !== undefined) return await channel.describe(signal);
  const agent = driver.channels(vm).find(({ describe }) => describe !== undefined);
  try {
    return await agent?.describe?.(AbortSignal.any([signal, AbortSignal.timeout(AGENT_LIMIT_MS)]));
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
