/** What drivers do with the networks of VMs. */

import type { Forward, Nic, Switch, SwitchType } from "../contract/network.ts";
import type { CallScope } from "./call_scope.ts";

/** A forward to be made. */
export interface ForwardWish {
  guest_port: number;
  /** An IPv4 address of this host; the driver's narrowest that works when left out. */
  host_address?: string;
  host_port: number | "auto";
}

/** Where a program on this host reaches a TCP port of a guest. Disposing gives back what was made for it. */
export interface Reach extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
}

/** Feature `forwards`: ports of the host that lead into guests. */
export interface ForwardAbilities {
  /** All forwards of a VM, those that are kept for its next start included. */
  list(id: string, signal: AbortSignal): Promise<Forward[]>;
  /**
   * Makes a forward that holds now, while the machine runs, and at every later start. One that is there already is
   * answered as it is. Throws `hv.conflict` that names who has the port.
   */
  add(id: string, wish: ForwardWish, scope: CallScope): Promise<Forward>;
  /** Removes the forwards to a guest's port, or the one from this port of the host. `hv.not_found` when there is none. */
  remove(id: string, which: { guest_port: number; host_port?: number }, scope: CallScope): Promise<Forward[]>;
  /**
   * A way to a port of a running guest for a program of our own, such as a channel into the guest: a forward that is
   * open already, else one for this use alone, which no record keeps. Takes no lock of the VM.
   */
  reach(id: string, guestPort: number, signal: AbortSignal): Promise<Reach>;
}

/** Feature `switches`: what network cards of VMs are plugged into. Never a physical network. */
export interface SwitchAbilities {
  list(signal: AbortSignal): Promise<Switch[]>;
  /** Makes a switch and answers its id; with feature `switches.nat` and `nat` one that leads out through the host. `external` is `hv.policy_denied`, a taken name `hv.conflict`. */
  create(wish: { name: string; type: SwitchType; nat?: string }, scope: CallScope): Promise<string>;
  /** Removes a switch of ours that no network card is on; `hv.conflict` names the VMs that are. */
  remove(id: string, scope: CallScope): Promise<void>;
}

/** A network card to be given to a VM. */
export interface NicWish {
  /** The switch's id. */
  switch: string;
  mac?: string;
  vlan?: number;
}

/** What changes about a network card; a field that is left out stays. */
export interface NicChange {
  /** The switch's id; `null` pulls its plug. */
  switch?: string | null;
  /** Feature `nics.vlan`; 0 takes the tag away. */
  vlan?: number;
}

/** Feature `nics`: network cards. What a living machine cannot take on waits for the VM's next start. */
export interface NicAbilities {
  list(id: string, signal: AbortSignal): Promise<{ nics: Nic[]; warnings: string[] }>;
  /** Answers the new card's id. */
  add(id: string, wish: NicWish, scope: CallScope): Promise<string>;
  set(id: string, nic: string, change: NicChange, scope: CallScope): Promise<void>;
  remove(id: string, nic: string, scope: CallScope): Promise<void>;
}
