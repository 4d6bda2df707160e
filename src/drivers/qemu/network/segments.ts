/**
 * Segments that only VMs are on: multicast groups on the loopback interface, which machines join by themselves. No
 * program serves them, no right is needed, and no packet reaches a network of the host (tried on QEMU 7.2).
 */

import { DEFAULT_SWITCH } from "../../../contract/network.ts";
import type { NicLink } from "./netdevs.ts";

const FIRST_PORT = 10_000;
const PORT_COUNT = 20_000;

const TAP_PREFIX = "tap:";

/** The id under which a tap device stands beside the switches. */
export function tapId(name: string): string {
  return TAP_PREFIX + name;
}

/** The tap device that an id means; `undefined` for the id of a switch. */
export function tapOf(id: string): string | undefined {
  return id.startsWith(TAP_PREFIX) ? id.slice(TAP_PREFIX.length) : undefined;
}

/** What a card on a switch is plugged into. */
export function linkOf(id: string): NicLink {
  if (id === DEFAULT_SWITCH) return { kind: "user" };
  const tap = tapOf(id);
  if (tap !== undefined) return { kind: "tap", name: tap };
  const digits = id.replaceAll("-", "");
  const byte = (index: number): number => Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
  // The block that is meant for groups of one's own (RFC 2365); the id is random, and so is the place in it.
  const group = `239.${byte(0)}.${byte(1)}.${byte(2)}`;
  return { kind: "segment", group, port: FIRST_PORT + (byte(3) * 256 + byte(4)) % PORT_COUNT };
}
