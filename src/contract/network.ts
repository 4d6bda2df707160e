/** Networks of VMs: switches, network cards, ports of the host that lead into guests. */

import * as z from "zod/mini";

/** A TCP port. */
export const Port = z.int().check(z.minimum(1), z.maximum(65535));

const HOST_PORT = "a port from 1 to 65535, or auto, is wanted";

/** A port of the host, as a number or a text, or `auto` for one that is free. */
export const HostPort = z.union([
  z.string().check(z.refine((text) => text === "auto" || isPort(text), HOST_PORT)),
  Port,
], HOST_PORT);

/** An IPv4 address of this host; `0.0.0.0` stands for all of them. */
export const HostAddress = z.string().check(
  z.refine(isAddress, "an IPv4 address such as 127.0.0.1 is wanted"),
);

/** A port of the host that leads to a TCP port of a VM's guest, as it is seen now. */
export const Forward = z.object({
  /** The VM's id. */
  vm: z.string(),
  guest_port: z.int(),
  host_address: z.string(),
  host_port: z.int(),
  /** Whether hvlab chose the host's port, and may choose another one when it is taken at a start. */
  auto: z.boolean(),
  /** Whether it comes back at the VM's next start. */
  lasting: z.boolean(),
  /** Whether it leads into the guest right now. */
  open: z.boolean(),
});
export type Forward = z.infer<typeof Forward>;

/** What a new switch is to be; `external` is a word that is known only to be refused. */
export const SwitchType = z.enum(["internal", "private", "external"]);
export type SwitchType = z.infer<typeof SwitchType>;

/** A switch by its exact name or its id; `default` is the one that leads to the host's network. */
export const SwitchRef = z.string().check(z.minLength(1), z.maxLength(255));

/** The name of the switch that every provider brings, whatever it is called there. */
export const DEFAULT_SWITCH = "default";

/** A network of addresses that are nobody's else, as `192.168.77.0/24`. */
export const NatPrefix = z.string().check(
  z.refine(isPrefix, "a network such as 192.168.77.0/24, with a prefix of 8 to 29 bits, is wanted"),
);

/** A switch as it is seen now. */
export const Switch = z.object({
  id: z.string(),
  name: z.string(),
  /** `nat` leads out through the host; VMs on it cannot be reached from elsewhere. */
  type: z.enum(["internal", "private", "external", "nat"]),
  /** Whether the provider brings it. */
  builtin: z.boolean(),
  /** Whether hvlab made it; only then may it be deleted. */
  managed: z.boolean(),
  /** Whether the host itself is on it. */
  host: z.boolean(),
  /** The network that it leads to through the host. */
  nat: z.optional(z.string()),
  /** The ids of the VMs that have a network card on it. */
  vms: z.array(z.string()),
});
export type Switch = z.infer<typeof Switch>;

/** A network card's hardware address, of one device alone. */
export const MacAddress = z.string().check(
  z.refine(
    (text) => /^[0-9A-Fa-f][02468ACEace]([:-]?[0-9A-Fa-f]{2}){5}$/.test(text),
    "a unicast MAC address such as 52:54:00:12:34:56 is wanted",
  ),
);

/** A VLAN's id; 0 stands for none. */
export const VlanId = z.int().check(z.minimum(0), z.maximum(4094));

/** A network card of a VM by its id or its exact name. */
export const NicRef = z.string().check(z.minLength(1), z.maxLength(255));

/** An address that a network card has. */
export const NicAddress = z.object({
  address: z.string(),
  /** Length of the network's prefix in bits. */
  prefix: z.optional(z.int()),
  /** Who said so. */
  source: z.enum(["agent", "integration_services"]),
  /** When it was said. */
  seen_at: z.string(),
  age_s: z.number(),
});
export type NicAddress = z.infer<typeof NicAddress>;

/** A network card as it is seen now. */
export const Nic = z.object({
  id: z.string(),
  name: z.string(),
  /** The VM's id. */
  vm: z.string(),
  mac: z.nullable(z.string()),
  /** The name of the switch that it is plugged into. */
  switch: z.nullable(z.string()),
  /** What it is plugged into at the VM's next start, where that is something else. */
  switch_at_next_start: z.optional(z.nullable(z.string())),
  vlan: z.optional(z.int()),
  /** Whether the VM's machine has it now. */
  now: z.boolean(),
  /** Whether the VM has it from its next start on. */
  next_start: z.boolean(),
  addresses: z.array(NicAddress),
});
export type Nic = z.infer<typeof Nic>;

/** Writes a MAC address with colons and small letters. */
export function plainMac(text: string): string {
  const digits = text.replace(/[:-]/g, "").toLowerCase();
  return digits.match(/../g)?.join(":") ?? digits;
}

/** Reads a {@link HostPort}. */
export function readHostPort(port: z.infer<typeof HostPort>): number | "auto" {
  return port === "auto" ? port : Number(port);
}

function isPrefix(text: string): boolean {
  const [address = "", length = "", ...rest] = text.split("/");
  const bits = /^\d{1,2}$/.test(length) ? Number(length) : 0;
  if (rest.length > 0 || !isAddress(address) || bits < 8 || bits > 29) return false;
  const number = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return number % 2 ** (32 - bits) === 0;
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65535;
}

function isAddress(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}
