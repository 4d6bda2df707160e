/** Waiting until a VM's crash policy has done its work. */

import type { KeptCrash } from "../../contract/crash_policy.ts";
import type { Vm } from "../../contract/vm.ts";
import type { CallScope } from "../../drivers/call_scope.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Host } from "../../host/host.ts";

const LOOK_MS = 100;
/** A keeper hears of a crash at once; this is for one that has only just been started. */
const BEGINNING_LIMIT_MS = 10_000;

/**
 * Gives what the policy of a VM that has crashed has kept; `undefined` without a policy, and with a warning when nobody is
 * there to keep anything.
 */
export async function awaitKeptCrash(
  { driver, host: { clock }, signal, progress, warn }: CallScope & {
    driver: Pick<Driver, "crashes" | "events">;
    host: Pick<Host, "clock">;
  },
  { id, name, on_crash }: Vm,
): Promise<KeptCrash | undefined> {
  const { crashes } = driver;
  if (on_crash === undefined || crashes === undefined) return undefined;
  const end = clock.monotonic() + BEGINNING_LIMIT_MS;
  progress({ message: "waiting for what is kept of the crash" });
  for (;;) {
    signal.throwIfAborted();
    const seen = await crashes.kept(id);
    if (seen?.state === "kept") return seen.kept;
    const gap = await driver.events?.gap(signal);
    const isLate = seen === undefined && clock.monotonic() >= end;
    if (gap !== undefined || isLate) {
      warn?.(`The crash of "${name}" is not being kept${gap === undefined ? "" : `: ${gap}`}`);
      return undefined;
    }
    await clock.sleep(LOOK_MS, signal);
  }
}
