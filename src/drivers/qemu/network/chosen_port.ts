/** Opening ports of the host: for one that hvlab chose, another one takes its place when it has just been taken. */

import { HvError } from "../../../base/errors.ts";
import type { VmMonitor } from "../monitor/vm_monitor.ts";
import { type HostForward, openHostForward } from "./host_forwards.ts";
import { portInUse } from "./host_ports.ts";

/** More often than this it is not chance. */
const ATTEMPTS = 16;

/** Opens a forward in a running machine. Throws `hv.conflict` that names who has the port. */
export async function openForward(monitor: VmMonitor, forward: HostForward): Promise<void> {
  const { opened } = await monitor.ask(async (session) => ({
    opened: await openHostForward(session, forward),
  }));
  if (!opened) throw await portInUse(monitor.context.host, forward);
}

/** Opens what `choose` gives, and what it gives next when that port has been taken since it looked. */
export async function openFirstFree<F extends HostForward>(
  choose: (taken: ReadonlySet<number>) => Promise<F>,
  open: (forward: F) => Promise<void>,
): Promise<F> {
  const taken = new Set<number>();
  for (;;) {
    const forward = await choose(taken);
    try {
      await open(forward);
      return forward;
    } catch (error) {
      const isTaken = error instanceof HvError && error.context.found === "taken";
      if (!isTaken || taken.size >= ATTEMPTS || taken.has(forward.host_port)) throw error;
      taken.add(forward.host_port);
    }
  }
}
