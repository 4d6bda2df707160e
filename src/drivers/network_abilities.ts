/** What drivers do with the networks of VMs. */

import type { Forward } from "../contract/network.ts";
import type { CallScope } from "./call_scope.ts";

/** A forward to be made. */
export interface ForwardWish {
  guest_port: number;
  /** An IPv4 address of this host. */
  host_address: string;
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
