/**
 * Ports of a Windows host that lead into guests, through NAT networks of Windows. A port leads to the address that the
 * guest had when the forward was made; the VM's notes keep which forwards are its own.
 */

import * as z from "zod/mini";
import { HvError, toHvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { Forward } from "../../../contract/network.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { ForwardAbilities, ForwardWish } from "../../network_abilities.ts";
import type { HyperV } from "../client.ts";
import { changeNotes } from "../machines/notes.ts";
import { type MarkedForward, readForwards, writeForwards } from "./forward_marks.ts";
import { readAdapters } from "./networks.ts";

const Nats = z.object({
  nats: z.array(z.object({ name: z.string(), prefix: z.string() })),
  mappings: z.array(z.object({
    id: z.int(),
    nat: z.string(),
    protocol: z.string(),
    host_address: z.string(),
    host_port: z.int(),
    address: z.string(),
    guest_port: z.int(),
  })),
});
type Nats = z.infer<typeof Nats>;
type Mapping = Nats["mappings"][number];

/** Below the ports that Windows gives to outgoing connections (from 49152). */
const AUTO_FIRST = 20_000;
const AUTO_COUNT = 10_000;
const ATTEMPTS = 16;
const ANY_ADDRESS = "0.0.0.0";

/** Port forwards of this host. */
export function openForwards(hyperv: HyperV, state: StateFolder): ForwardAbilities {
  return {
    async list(id, signal) {
      const { notes } = await hyperv.getMachine(id, signal);
      const marked = readForwards(notes);
      if (marked.length === 0) return [];
      const addresses = await addressesOf(hyperv, id, signal);
      const { mappings } = await hyperv.ask(Nats, "list_nats", {}, { signal });
      return marked.map((forward) => shown(id, forward, mappings, addresses));
    },
    add: (id, wish, scope) => addForward(hyperv, state, id, wish, scope),
    remove: (id, which, scope) => removeForwards(hyperv, state, id, which, scope),
    async reach(id, guestPort, signal) {
      // The host is on every switch but private ones, so it needs no forward.
      const [address] = await addressesOf(hyperv, id, signal);
      if (address === undefined) throw noAddress(id);
      return { address, port: guestPort, [Symbol.asyncDispose]: () => Promise.resolve() };
    },
  };
}

function shown(
  vm: string,
  forward: MarkedForward,
  mappings: readonly Mapping[],
  addresses: readonly string[],
): Forward {
  const { address, ...rest } = forward;
  const isThere = mappings.some((mapping) => isOf(mapping, forward));
  return { vm, ...rest, lasting: isThere, open: isThere && addresses.includes(address) };
}

function isOf(mapping: Mapping, forward: MarkedForward): boolean {
  return mapping.protocol === "tcp" && mapping.host_address === forward.host_address &&
    mapping.host_port === forward.host_port && mapping.address === forward.address &&
    mapping.guest_port === forward.guest_port;
}

async function addForward(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  { guest_port, host_address = ANY_ADDRESS, host_port }: ForwardWish,
  scope: CallScope,
): Promise<Forward> {
  refuseLoopback(host_address);
  using _ports = await takePorts(hyperv, state, scope.signal);
  const machine = await hyperv.getMachine(id, scope.signal);
  const marked = readForwards(machine.notes);
  const addresses = await addressesOf(hyperv, id, scope.signal);
  const { nats, mappings } = await hyperv.ask(Nats, "list_nats", {}, scope);
  const known = marked.find((forward) =>
    forward.guest_port === guest_port && forward.host_address === host_address &&
    (host_port === "auto" ? forward.auto : forward.host_port === host_port) &&
    mappings.some((mapping) => isOf(mapping, forward))
  );
  if (known !== undefined) return shown(id, known, mappings, addresses);
  const way = findNat(nats, addresses);
  if (way === undefined) throw noNat(id, addresses);
  const markForwards = (forwards: MarkedForward[]): Promise<void> =>
    changeNotes(hyperv, state, id, (notes) => writeForwards(notes, forwards), scope);
  const make = async (port: number): Promise<Forward> => {
    const forward = {
      guest_port,
      host_address,
      host_port: port,
      address: way.address,
      auto: host_port === "auto",
    };
    const others = marked.filter((other) => other.host_port !== port);
    await markForwards([...others, forward]);
    const args = { nat: way.nat, host_address, host_port: port, address: way.address, guest_port };
    try {
      const after = await hyperv.ask(Nats, "add_mapping", args, scope);
      return shown(id, forward, after.mappings, addresses);
    } catch (error) {
      // A mapping that may be there stays noted, so that it goes with the VM.
      const isUnknown = error instanceof HvError && error.code === "hv.outcome_unknown";
      if (!isUnknown) await markForwards(marked);
      throw error;
    }
  };
  if (host_port !== "auto") return await make(host_port);
  const taken = new Set(mappings.map((mapping) => mapping.host_port));
  for (let attempt = 1;; attempt++) {
    const port = choosePort(hyperv, taken);
    try {
      return await make(port);
    } catch (error) {
      const isTaken = error instanceof HvError && error.context.found === "taken";
      if (!isTaken || attempt === ATTEMPTS) throw error;
      taken.add(port);
    }
  }
}

async function removeForwards(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  which: { guest_port: number; host_port?: number },
  scope: CallScope,
): Promise<Forward[]> {
  using _ports = await takePorts(hyperv, state, scope.signal);
  const { notes, name } = await hyperv.getMachine(id, scope.signal);
  const marked = readForwards(notes);
  const doomed = marked.filter(({ guest_port, host_port }) =>
    guest_port === which.guest_port && host_port === (which.host_port ?? host_port)
  );
  if (doomed.length === 0) {
    throw new HvError("hv.not_found", `"${name}" has no forward to the guest's port ${which.guest_port}`, {
      hint: `List them with: hvlab forward list ${id}`,
      context: { vm: id, ...which },
    });
  }
  let { mappings } = await hyperv.ask(Nats, "list_nats", {}, scope);
  for (const mapping of mappings.filter((one) => doomed.some((forward) => isOf(one, forward)))) {
    ({ mappings } = await hyperv.ask(Nats, "remove_mapping", { id: mapping.id }, scope));
  }
  const left = marked.filter((forward) => !doomed.includes(forward));
  await changeNotes(hyperv, state, id, (now) => writeForwards(now, left), scope);
  return doomed.map((forward) => shown(id, forward, mappings, []));
}

/**
 * Takes the ports of a VM that is about to go away: whoever gets its address next must not be reached through them.
 * What cannot be taken is told, and keeps no VM from being removed.
 */
export async function releaseForwards(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  scope: CallScope,
): Promise<void> {
  const { notes } = await hyperv.getMachine(id, scope.signal);
  const marked = readForwards(notes);
  if (marked.length === 0) return;
  try {
    using _ports = await takePorts(hyperv, state, scope.signal);
    const { mappings } = await hyperv.ask(Nats, "list_nats", {}, scope);
    for (const mapping of mappings.filter((one) => marked.some((forward) => isOf(one, forward)))) {
      await hyperv.ask(Nats, "remove_mapping", { id: mapping.id }, scope);
    }
  } catch (error) {
    scope.signal.throwIfAborted();
    const ports = marked.map(({ host_port }) => host_port).join(", ");
    scope.warn?.(`The host's ports ${ports} still lead to the VM's address: ${toHvError(error).message}`);
  }
}

/** The guest's IPv4 addresses that others can use. */
async function addressesOf(hyperv: HyperV, id: string, signal: AbortSignal): Promise<string[]> {
  const { adapters } = await readAdapters(hyperv, id, signal);
  return adapters.flatMap(({ addresses }) => addresses)
    .filter((address) => /^\d+(\.\d+){3}$/.test(address) && !address.startsWith("169.254."));
}

function findNat(
  nats: Nats["nats"],
  addresses: readonly string[],
): { nat: string; address: string } | undefined {
  for (const { name, prefix } of nats) {
    const address = addresses.find((candidate) => isInside(candidate, prefix));
    if (address !== undefined) return { nat: name, address };
  }
  return undefined;
}

function isInside(address: string, prefix: string): boolean {
  const [network = "", length = "32"] = prefix.split("/");
  const size = 2 ** (32 - Number(length));
  return Math.floor(numberOf(address) / size) === Math.floor(numberOf(network) / size);
}

function numberOf(address: string): number {
  return address.split(".").reduce((number, part) => number * 256 + Number(part), 0);
}

function choosePort({ host }: HyperV, taken: ReadonlySet<number>): number {
  const start = Math.floor(Math.random() * AUTO_COUNT);
  for (let step = 0; step < AUTO_COUNT; step++) {
    const port = AUTO_FIRST + (start + step) % AUTO_COUNT;
    if (!taken.has(port) && host.sockets.isPortFree(ANY_ADDRESS, port)) return port;
  }
  throw new HvError(
    "hv.unavailable",
    `Every port from ${AUTO_FIRST} to ${AUTO_FIRST + AUTO_COUNT - 1} is taken`,
    {
      hint: "Name a port with --host-port, or remove forwards",
    },
  );
}

/** Whoever gives a VM a port holds this. */
function takePorts({ host }: HyperV, state: StateFolder, signal: AbortSignal): Promise<Disposable> {
  return host.locks.take(joinPath(state.locks, "hyperv_ports.lock"), signal);
}

/** NAT of Windows answers at the host's outer addresses only. */
function refuseLoopback(address: string): void {
  if (!address.startsWith("127.")) return;
  throw new HvError(
    "hv.unsupported",
    `Windows forwards no port of ${address}: its NAT is not on the loopback`,
    {
      hint:
        "Leave --host-address out for all addresses, or name one of the host's; the host itself reaches the guest's own address",
      context: { host_address: address },
    },
  );
}

function noNat(id: string, addresses: readonly string[]): HvError {
  if (addresses.length === 0) return noAddress(id);
  return new HvError("hv.conflict", "No NAT network of Windows leads to the guest", {
    hint: "Put the VM on a switch from: hvlab switch create NAME --type internal --nat 192.168.77.0/24",
    context: { vm: id, addresses: [...addresses], wanted: "an address in a NAT network", found: "none" },
  });
}

function noAddress(id: string): HvError {
  return new HvError("hv.guest_not_ready", "The guest has told no IPv4 address yet", {
    hint: `Wait for it: hvlab vm wait ${id} --until address`,
    context: { vm: id },
    retryable: true,
  });
}
