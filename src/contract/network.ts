/** Networks of VMs: ports of the host that lead into guests. */

import * as z from "zod/mini";

/** A TCP port. */
export const Port = z.int().check(z.minimum(1), z.maximum(65535));

/** A port of the host, or `auto` for one that is free. */
export const HostPort = z.string().check(
  z.refine((text) => text === "auto" || isPort(text), "a port from 1 to 65535, or auto"),
);

/** An IPv4 address of this host; `0.0.0.0` stands for all of them. */
export const HostAddress = z.string().check(
  z.refine(isAddress, "an IPv4 address such as 127.0.0.1"),
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

/** Reads a {@link HostPort}. */
export function readHostPort(text: string): number | "auto" {
  return text === "auto" ? text : Number(text);
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65535;
}

function isAddress(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}
