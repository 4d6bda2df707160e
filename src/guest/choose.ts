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
  /** The ways that the policy allows, best first; all of them when left out. */
  allowed?: readonly string[] | undefined;
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
  /** Why the first comes before the others. */
  because: string;
}

/** Whether the policy lets a way be taken; without a list it lets all. */
export function allowsChannel(allowed: readonly string[] | null | undefined, name: ChannelName): boolean {
  return allowed?.includes(name) ?? true;
}

/**
 * Puts the ways of a guest in order. Only the first is tried, and the next one when nobody answers there; a refused login
 * is never followed by another way. Throws `hv.unsupported` when there is none, or not the one that is wanted,
 * and `hv.policy_denied` when the policy allows none of them, or not that one.
 */
export function chooseChannel(ways: readonly GuestChannel[], evidence: Evidence): Choice {
  const { wanted, answered, hasLogin, wantsLogin, allowed } = evidence;
  const passedOver: PassedOver[] = [];
  const pass = (channel: ChannelName, reason: string): void => void passedOver.push({ channel, reason });
  if (wanted !== undefined) {
    const way = ways.find(({ name }) => name === wanted);
    if (way === undefined) throw notThere(wanted, ways);
    if (!allowsChannel(allowed, wanted)) throw notAllowed([way], allowed);
    for (const { name } of ways) if (name !== wanted) pass(name, `"${wanted}" was asked for`);
    return { order: [way], passedOver, because: `"${wanted}" was asked for` };
  }
  const open = ways.filter(({ name }) => allowsChannel(allowed, name));
  const closed = ways.filter((way) => !open.includes(way));
  for (const { name } of closed) pass(name, "the policy does not allow it");
  const order = open.filter(({ name }) => {
    if (wantsLogin && name === "agent") {
      pass(name, "the agent logs in as nobody, and an account was named");
      return false;
    }
    const usable = name !== "ssh" || hasLogin || open.length === 1 || allowed?.[0] === "ssh";
    if (!usable) pass(name, rankOf(open).because);
    return usable;
  }).sort((one, other) => place(one.name, answered, allowed) - place(other.name, answered, allowed));
  if (order.length === 0 && closed.length > 0) throw notAllowed(closed, allowed);
  if (order.length === 0) throw wantsLogin && ways.length > 0 ? noLogin(open) : notThere(undefined, ways);
  const because = allowed === undefined ? rankOf(order).because : "the policy names another before it";
  return { order, passedOver, because };
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
        : choice.because;
      return [{ channel: name, reason }];
    }),
  ];
}

function rankOf(ways: readonly GuestChannel[]): { because: string } {
  return RANKS.find(({ name }) => ways.some((way) => way.name === name)) ??
    { because: "another comes first" };
}

function place(
  name: ChannelName,
  answered: ChannelName | undefined,
  allowed: readonly string[] | undefined,
): number {
  if (name === answered) return -1;
  return allowed?.indexOf(name) ?? RANKS.findIndex((rank) => rank.name === name);
}

/** Nothing that leads into a guest may be taken. */
export function notAllowed(
  ways: readonly GuestChannel[],
  allowed: readonly string[] | null | undefined,
): HvError {
  const names = ways.map(({ name }) => `"${name}"`).join(" nor ");
  return new HvError("hv.policy_denied", `The policy does not allow ${names} as a way into guests`, {
    hint: "Change policy.channels in hvlab.yaml",
    context: { found: ways.map(({ name }) => name), allowed: [...allowed ?? []] },
  });
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
