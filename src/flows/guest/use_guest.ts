/** Doing something in a guest over the way that serves best, and saying which one that was. */

import { HvError } from "../../base/errors.ts";
import type { Vm } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Config } from "../../config/config.ts";
import type { ChannelName, GuestChannel } from "../../guest/channel.ts";
import { chooseChannel, type PassedOver, passOthers } from "../../guest/choose.ts";
import type { Host } from "../../host/host.ts";
import type { StateFolder } from "../../state/layout.ts";
import { readEvidence, writeEvidence } from "./channel_evidence.ts";
import { findLogin, type LoginWish } from "./guest_login.ts";
import { guestCrashed, refuseUnusable } from "./open_channel.ts";
import { tidyPassing } from "../crashes/passing_notes.ts";
import { tellKeptCrash } from "../crashes/tell_kept_crash.ts";

/** How a call wants to get into a guest. */
export interface AccessWish extends LoginWish {
  channel?: ChannelName | undefined;
}

export interface GuestScope {
  host: Host;
  state: StateFolder;
  driver: Driver;
  config: Pick<Config, "policy">;
  vm: Vm;
  signal: AbortSignal;
  warn: (text: string) => void;
  /** Whether a way that answered may be remembered; not for a call that only reads. */
  remembers?: boolean;
}

/** What an answer says of the way that was taken. */
export interface AccessFacts {
  channel: ChannelName;
  channels_not_used?: PassedOver[];
}

/**
 * Runs `work` with a channel. When nobody answers there, which leaves the guest as it was, the next one is tried and a
 * warning says so; every other failure, a refused login above all, is the call's own and names the ways not taken.
 */
export async function useGuest<T extends object>(
  { host, state, driver, config, vm, signal, warn, remembers = true }: GuestScope,
  wish: AccessWish,
  work: (channel: GuestChannel) => Promise<T>,
): Promise<T & AccessFacts> {
  if (vm.state === "crashed") throw await tellKeptCrash(guestCrashed(vm), vm, driver, host);
  refuseUnusable(vm);
  const login = await findLogin(host, driver, vm, wish);
  const ways = driver.channels(vm, login);
  const answered = ways.length < 2 ? undefined : await readEvidence(host, state, vm);
  const choice = chooseChannel(ways, {
    wanted: wish.channel,
    answered,
    hasLogin: login !== undefined,
    allowed: config.policy.channels ?? undefined,
    wantsLogin: wish.user !== undefined || wish.password_from_env !== undefined,
  });
  const failures: string[] = [];
  for (const [index, channel] of choice.order.entries()) {
    const others = (): PassedOver[] => passOthers(choice, index, failures, answered);
    try {
      const left = remembers ? await tidyPassing({ host, driver, vm }, channel, signal) : undefined;
      const result = await work(channel);
      if (left !== undefined) warn(left);
      if (index > 0) {
        if (remembers) await writeEvidence(host, state, vm, channel.name);
        warn(`"${channel.name}" was used: ${failures.join("; ")}`);
      }
      const unused = others();
      return {
        ...result,
        channel: channel.name,
        ...(unused.length === 0 ? {} : { channels_not_used: unused }),
      };
    } catch (error) {
      if (!(error instanceof HvError)) throw error;
      const isLast = index === choice.order.length - 1;
      if (error.code !== "hv.guest_not_ready" || isLast) {
        throw error.withContext({
          channel: channel.name,
          channels_not_used: others().map(({ channel: name, reason }) => ({ channel: name, reason })),
        });
      }
      failures.push(error.message);
    }
  }
  throw new HvError("hv.internal", "No way into the guest was tried");
}
