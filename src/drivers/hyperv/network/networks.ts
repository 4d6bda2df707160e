/** Switches and network cards on Hyper-V. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { uuidOf } from "../../../base/ids.ts";
import { joinPath } from "../../../base/paths.ts";
import {
  type Nic,
  type NicAddress,
  plainMac,
  type Switch,
  type SwitchType,
} from "../../../contract/network.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { NicAbilities, SwitchAbilities } from "../../network_abilities.ts";
import type { HyperV } from "../client.ts";
import { readSwitchMark, writeSwitchMark } from "./switch_mark.ts";

const SwitchFacts = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(["internal", "private", "external"]),
  builtin: z.boolean(),
  notes: z.string(),
  machines: z.array(z.string()),
});
type SwitchFacts = z.infer<typeof SwitchFacts>;

/** One network card as `ConvertTo-AdapterFacts` gives it. */
const AdapterFacts = z.object({
  id: z.string(),
  name: z.string(),
  mac: z.string(),
  switch: z.nullable(z.string()),
  switch_name: z.nullable(z.string()),
  vlan: z.int(),
  addresses: z.array(z.string()),
});
type AdapterFacts = z.infer<typeof AdapterFacts>;

const Adapters = z.object({ adapters: z.array(AdapterFacts) });
const OneAdapter = z.object({ adapter: AdapterFacts });
const Removal = z.object({ removed: z.boolean() });

/** What Hyper-V says of a card's address before it has chosen one. */
const NO_MAC = "000000000000";

/** The switches of this host. */
export function openSwitches(hyperv: HyperV, state: StateFolder): SwitchAbilities {
  return {
    async list(signal) {
      const answer = z.object({ switches: z.array(SwitchFacts) });
      const { switches } = await hyperv.ask(answer, "list_switches", {}, { signal });
      return switches.map(switchOf);
    },
    create: (wish, scope) => createSwitch(hyperv, state, wish, scope),
    async remove(id, scope) {
      using _names = await takeSwitchNames(hyperv, state, scope.signal);
      await hyperv.ask(Removal, "remove_switch", { id }, scope);
    },
  };
}

/** A network behind the host makes the switch `nat`; its prefix is in the switch's mark. */
function switchOf({ id, name, type, builtin, notes, machines }: SwitchFacts): Switch {
  const mark = readSwitchMark(notes);
  return {
    id,
    name,
    type: builtin ? "nat" : type,
    builtin,
    managed: mark !== undefined,
    host: type !== "private",
    ...(mark?.nat === undefined ? {} : { nat: mark.nat }),
    vms: machines.map((machine) => `vm-${machine}`),
  };
}

async function createSwitch(
  hyperv: HyperV,
  state: StateFolder,
  { name, type, nat }: { name: string; type: SwitchType; nat?: string },
  scope: CallScope,
): Promise<string> {
  if (type === "external") {
    throw new HvError("hv.policy_denied", `Refused to make the switch "${name}" external`, {
      hint: "hvlab never touches a network adapter of the host; take --type internal or private",
      context: { switch: name, type },
    });
  }
  using _names = await takeSwitchNames(hyperv, state, scope.signal);
  const notes = writeSwitchMark({
    created_at: new Date(hyperv.host.clock.now()).toISOString(),
    ...(nat === undefined ? {} : { nat }),
  });
  const answer = z.object({ switch: SwitchFacts });
  const made = await hyperv.ask(answer, "make_switch", { name, type, notes }, scope);
  const { id } = made.switch;
  if (nat === undefined) return id;
  try {
    await hyperv.ask(z.object({ nat: z.string() }), "add_switch_nat", { id, ...natOf(nat) }, scope);
    return id;
  } catch (error) {
    await hyperv.ask(Removal, "remove_switch", { id }, { signal: AbortSignal.timeout(TAKE_BACK_LIMIT_MS) });
    throw error;
  }
}

const TAKE_BACK_LIMIT_MS = 30_000;

/** A network with the host's own address in it, the first one. */
function natOf(prefix: string): { prefix: string; address: string; length: number } {
  const [network = "", length = ""] = prefix.split("/");
  return {
    prefix,
    address: network.replace(/\d+$/, (last) => String(Number(last) + 1)),
    length: Number(length),
  };
}

/** Whoever makes or removes a switch holds this, so that no two calls of ours give the same name. */
function takeSwitchNames(hyperv: HyperV, state: StateFolder, signal: AbortSignal): Promise<Disposable> {
  return hyperv.host.locks.take(joinPath(state.locks, "hyperv_switches.lock"), signal);
}

/** The network cards of this host's VMs. */
export function openNics(hyperv: HyperV): NicAbilities {
  return {
    async list(id, signal) {
      const asked = hyperv.host.clock.now();
      const { adapters } = await readAdapters(hyperv, id, signal);
      const age_s = Math.round((hyperv.host.clock.now() - asked) / 1000);
      const seen = { seen_at: new Date(asked).toISOString(), age_s };
      return { nics: adapters.map((adapter) => nicOf(id, adapter, seen)), warnings: [] };
    },
    async add(id, { switch: target, mac, vlan }, scope) {
      const digits = mac === undefined ? null : plainMac(mac).replaceAll(":", "").toUpperCase();
      const args = { vm: uuidOf(id), switch: target, mac: digits, vlan: vlan ?? null };
      return (await hyperv.ask(OneAdapter, "add_adapter", args, scope)).adapter.id;
    },
    async set(id, nic, { switch: target, vlan }, scope) {
      const plug = target === undefined ? null : target ?? "";
      const args = { vm: uuidOf(id), adapter: nic, switch: plug, vlan: vlan ?? null };
      await hyperv.ask(OneAdapter, "set_adapter", args, scope);
    },
    async remove(id, nic, scope) {
      await hyperv.ask(Removal, "remove_adapter", { vm: uuidOf(id), adapter: nic }, scope);
    },
  };
}

/** A VM's network cards as Hyper-V gives them. */
export function readAdapters(
  hyperv: HyperV,
  id: string,
  signal: AbortSignal,
): Promise<z.infer<typeof Adapters>> {
  return hyperv.ask(Adapters, "list_adapters", { vm: uuidOf(id) }, { signal });
}

/** Hyper-V plugs cards in at once; one that a VM cannot take while it runs is refused. */
function nicOf(vm: string, facts: AdapterFacts, seen: Pick<NicAddress, "seen_at" | "age_s">): Nic {
  const { id, name, mac, switch_name, vlan, addresses } = facts;
  return {
    id,
    name,
    vm,
    mac: mac === NO_MAC || mac === "" ? null : plainMac(mac),
    switch: switch_name,
    ...(vlan === 0 ? {} : { vlan }),
    now: true,
    next_start: true,
    addresses: addresses.map((address) => ({ address, source: "integration_services", ...seen })),
  };
}
