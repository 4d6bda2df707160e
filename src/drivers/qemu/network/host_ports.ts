/** Which ports of the host are free for forwards, and who has those that are not. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { Host } from "../../../host/host.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecords } from "../records.ts";
import { ANY_ADDRESS } from "./host_forwards.ts";

/** A place of the host that a forward begins at. */
export interface HostPlace {
  host_address: string;
  host_port: number;
}

/**
 * Ports that are chosen for `auto`: below those that Linux (from 32768) and Windows (from 49152) give to outgoing
 * connections, so that one is seldom taken while its VM is off.
 */
const AUTO_FIRST = 20_000;
const AUTO_COUNT = 10_000;
/** Where `localhost` leads first on many hosts. */
const IPV6_LOOPBACK = "::1";
/** Binding it takes whichever port is free. */
const ANY_PORT = 0;

/** Whoever gives a VM a port holds this, so that no two calls give the same one. */
export function takePorts({ host, state }: QemuContext, signal: AbortSignal): Promise<Disposable> {
  return host.locks.take(joinPath(state.locks, "ports.lock"), signal);
}

/** The places that VMs of this state folder have, running or not, by the VM's name. */
export async function reservedPlaces(
  records: VmRecords,
): Promise<(HostPlace & { id: string; name: string })[]> {
  const { records: all } = await records.list();
  return all.flatMap(({ id, name, forwards = [] }) =>
    forwards.map(({ host_address, host_port }) => ({ id, name, host_address, host_port }))
  );
}

/** A free port of an address, none of which is reserved; `except` are ports that have just turned out to be taken. */
export function chooseHostPort(
  host: Host,
  address: string,
  reserved: readonly HostPlace[],
  except: ReadonlySet<number> = new Set(),
): number {
  const start = Math.floor(Math.random() * AUTO_COUNT);
  for (let step = 0; step < AUTO_COUNT; step++) {
    const host_port = AUTO_FIRST + (start + step) % AUTO_COUNT;
    if (except.has(host_port)) continue;
    const place = { host_address: address, host_port };
    if (!reserved.some((other) => overlap(place, other)) && isPlaceFree(host, place)) return host_port;
  }
  throw new HvError(
    "hv.unavailable",
    `Every port from ${AUTO_FIRST} to ${AUTO_FIRST + AUTO_COUNT - 1} is taken`,
    {
      hint: "Name a port with --host-port, or remove forwards",
      context: { host_address: address },
    },
  );
}

/** Throws `hv.usage` for an address that is none of this host's. */
export function refuseForeignAddress({ sockets }: Host, address: string): void {
  try {
    sockets.isPortFree(address, ANY_PORT);
  } catch (error) {
    if (!(error instanceof HvError)) throw error;
    throw new HvError("hv.usage", `This host has no address ${address}`, {
      hint: "Take 127.0.0.1 for this host alone, or 0.0.0.0 for all its addresses",
      context: { host_address: address },
      cause: error,
    });
  }
}

/** Throws `hv.conflict` when a place is another VM's, or some program listens there. */
export async function refuseTakenPlace(
  host: Host,
  place: HostPlace,
  reserved: readonly (HostPlace & { id: string; name: string })[],
): Promise<void> {
  const other = reserved.find((candidate) => overlap(place, candidate));
  if (other !== undefined) {
    throw taken(
      place,
      `it is the VM "${other.name}"'s`,
      { vm: other.id },
      [
        `Remove that one with: hvlab forward remove ${other.id} ...`,
        "or take another port",
      ].join(", "),
    );
  }
  if (!isPlaceFree(host, place)) throw await portInUse(host, place);
}

/** The failure for a port that some program has, named where the system tells. */
export async function portInUse(host: Host, place: HostPlace): Promise<HvError> {
  const holder = await findListener(host, place.host_port);
  const hint = "End that program, or take another port: --host-port auto finds a free one";
  if (holder === undefined) return taken(place, "another program has it", {}, hint);
  const { name, pid } = holder;
  return taken(place, `the program "${name}" (process ${pid}) has it`, { program: name, pid }, hint);
}

/**
 * A port that something has on the IPv6 loopback alone counts as taken too: `localhost` would lead there. A host
 * without IPv6 has nothing in the way.
 */
function isPlaceFree(host: Host, { host_address, host_port }: HostPlace): boolean {
  return host.sockets.isPortFree(host_address, host_port) && isFreeOnIpv6(host, host_port);
}

function isFreeOnIpv6({ sockets }: Host, port: number): boolean {
  try {
    return sockets.isPortFree(IPV6_LOOPBACK, port);
  } catch (error) {
    if (error instanceof HvError) return true;
    throw error;
  }
}

function overlap(one: HostPlace, other: HostPlace): boolean {
  const addresses = [one.host_address, other.host_address];
  return one.host_port === other.host_port &&
    (addresses[0] === addresses[1] || addresses.includes(ANY_ADDRESS));
}

/** Asks `ss` who listens on a port; other users' programs are not told to everybody. */
async function findListener(host: Host, port: number): Promise<{ name: string; pid: number } | undefined> {
  try {
    const { stdout } = await host.processes.run("ss", ["-Hltnp", "sport", "=", `:${port}`]);
    const [, name, pid] = /users:\(\("([^"]*)",pid=(\d+)/.exec(new TextDecoder().decode(stdout)) ?? [];
    return name === undefined ? undefined : { name, pid: Number(pid) };
  } catch (error) {
    // Its name would only have made the failure clearer.
    if (error instanceof HvError) return undefined;
    throw error;
  }
}

function taken(
  { host_address, host_port }: HostPlace,
  why: string,
  facts: Record<string, string | number>,
  hint: string,
): HvError {
  return new HvError("hv.conflict", `The port ${host_port} of ${host_address} is taken: ${why}`, {
    hint,
    context: { host_address, host_port, wanted: "free", found: "taken", ...facts },
  });
}
