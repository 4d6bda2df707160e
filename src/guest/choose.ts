/** Which way into a guest is taken, and why the others are not. Pure: what is known comes in, the order comes out. */

import { HvError } from "../base/errors.ts";
import type { ChannelName, GuestChannel } from "./channel.ts";

/** Why a way comes before others, best first. */
const RANKS: readonly { name: ChannelName; because: string }[] = [
  { name: "memory", because: "it is the guest's own" },
  { name: "agent", because: "the agent comes first: it needs neither a network nor a login" },
  { name: "psdirect", because: "PowerShell Direct comes first: it needs no network" },
  { name: "ssh", because: "SSH comes first" },
];

/** What the choice rests on. */
export interface Evidence {
  /** The way that was asked for. */
  wanted?: ChannelName | undefined;
  /** The way that answered when a better one did not, for guests of the same image. */
  answered?: ChannelName | undefined;
  /** Whether somebody is named to log in as. */
  hasLogin: boolean;
  /** Whether the call itself names whom to log in as, which only some ways do. */
  wantsLogin: boolean;
}

/** A way that was not taken. */
export interface PassedOver {
  channel: ChannelName;
  reason: string;
}

/** The ways to try in this order, and those that are not tried at all. */
export interface Choice {
  order: GuestChannel[];
  passedOver: PassedOver[];
}

/**
 * Puts the ways of a guest in order. Only the first is tried, and the next one when nobody answers there; a refused login
 * is never followed by another way. Throws `hv.unsupported` when there is none, or not the one that is wanted.
 */
export function chooseChannel(ways: readonly GuestChannel[], evidence: Evidence): Choice {
  const { wanted, answered, hasLogin, wantsLogin } = evidence;
  const passedOver: PassedOver[] = [];
  const pass = (channel: ChannelName, reason: string): void => void passedOver.push({ channel, reason });
  if (wanted !== undefined) {
    const way = ways.find(({ name }) => name === wanted);
    if (way === undefined) throw notThere(wanted, ways);
    for (const { name } of ways) if (name !== wanted) pass(name, `"${wanted}" was asked for`);
    return { order: [way], passedOver };
  }
  const order = ways.filter(({ name }) => {
    if (wantsLogin && name === "agent") {
      pass(name, "the agent logs in as nobody, and an account was named");
      return false;
    }
    const usable = name !== "ssh" || hasLogin || ways.length === 1;
    if (!usable) pass(name, rankOf(ways).because);
    return usable;
  }).sort((one, other) => place(one.name, answered) - place(other.name, answered));
  if (order.length === 0) throw wantsLogin && ways.length > 0 ? noLogin(ways) : notThere(undefined, ways);
  return { order, passedOver };
}

/** Why the ways after the one that was taken were not. */
export function passOthers(
  choice: Choice,
  taken: number,
  failures: readonly string[],
  answered?: ChannelName,
): PassedOver[] {
  const [first] = choice.order;
  return [
    ...choice.passedOver,
    ...choice.order.flatMap(({ name }, index) => {
      if (index === taken) return [];
      if (index < taken) return [{ channel: name, reason: failures[index] ?? "it did not answer" }];
      const reason = first !== undefined && first.name === answered
        ? `"${answered}" answered before for this image, when others did not`
        : rankOf(choice.order).because;
      return [{ channel: name, reason }];
    }),
  ];
}

function rankOf(ways: readonly GuestChannel[]): { because: string } {
  return RANKS.find(({ name }) => ways.some((way) => way.name === name)) ??
    { because: "another comes first" };
}

function place(name: ChannelName, answered: ChannelName | undefined): number {
  return name === answered ? -1 : RANKS.findIndex((rank) => rank.name === name);
}

function notThere(wanted: ChannelName | undefined, ways: readonly GuestChannel[]): HvError {
  const names = ways.map(({ name }) => name);
  const context = { ...(wanted === undefined ? {} : { wanted }), found: names };
  const hint = names.length === 0 ? "Install the guest agent in the image" : `It has ${names.join(", ")}`;
  return wanted === undefined
    ? new HvError("hv.unsupported", "There is no way into the guest", { hint, context })
    : new HvError("hv.unsupported", `There is no channel "${wanted}" into this guest`, { hint, context });
}

function noLogin(ways: readonly GuestChannel[]): HvError {
  const names = ways.map(({ name }) => name);
  return new HvError("hv.unsupported", "No channel into this guest logs in as anybody", {
    hint: "Leave --user out; --run-as says under whom a program runs",
    context: { found: names },
  });
}
