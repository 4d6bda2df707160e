/** A keeper that runs inside the test's own process. */

import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { VmEvent } from "../../src/contract/vm.ts";
import type { Host } from "../../src/host/host.ts";
import { runKeeper } from "../../src/keeper/run.ts";
import { wantKeeper } from "../../src/state/keeper_mark.ts";
import { openStoreReadOnly } from "../../src/state/store.ts";
import type { QemuLab } from "./qemu_lab.ts";

/** A keeper in this process. */
export interface Keeper extends AsyncDisposable {
  /** Resolves with its exit code when it has ended. */
  readonly ended: Promise<number>;
  /** Ends it as a signal does. */
  end(): void;
}

/** Starts one; `keeperHost` is the host that it sees. */
export async function startKeeper(
  { host, state }: Pick<QemuLab, "host" | "state">,
  keeperHost: Host = host,
): Promise<Keeper> {
  await wantKeeper(host, state);
  const ending = new AbortController();
  const ended = runKeeper({ host: keeperHost, state, config: DEFAULT_CONFIG, signal: ending.signal });
  const end = (): void => ending.abort();
  return {
    ended,
    end,
    async [Symbol.asyncDispose]() {
      end();
      await ended;
    },
  };
}

/** The history of a VM. */
export async function eventsOf(
  { host, state }: Pick<QemuLab, "host" | "state">,
  id: string,
): Promise<VmEvent[]> {
  using store = await openStoreReadOnly(host, state);
  return await store?.events.list({ vm: id, after: 0, limit: 100 }) ?? [];
}

/** Waits until a VM has as many events and answers them in words. */
export async function lived(
  lab: Pick<QemuLab, "host" | "state" | "scope">,
  id: string,
  count: number,
): Promise<string[]> {
  for (;;) {
    lab.scope.signal.throwIfAborted();
    const events = await eventsOf(lab, id);
    if (events.length >= count) {
      return events.map(({ event, details: { reason } }) =>
        reason === undefined ? event : `${event} ${reason}`
      );
    }
    await lab.host.clock.sleep(20, lab.scope.signal);
  }
}
