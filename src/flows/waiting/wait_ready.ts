/** Waiting for a level of readiness, a login included, as the tools that start and watch VMs do. */

import type { CloudInitOutcome } from "../../contract/guest_access.ts";
import type { ReadinessLevel, Vm } from "../../contract/vm.ts";
import { awaitFirstBoot } from "../machines/first_boot.ts";
import { notToldYet } from "../crashes/guest_panic.ts";
import { type LoginProof, lookAtBoot, type ProofWish, proveLogin } from "../guest/prove_login.ts";
import type { GuestScope } from "../guest/use_guest.ts";
import { type WaitOptions, waitUntil } from "./wait_until.ts";

/** What surrounds the wait. */
export type ReadyScope = Omit<GuestScope, "vm"> & Omit<WaitOptions, "clock" | "login">;

/** A VM that has come as far as asked, with what its login showed where that was the level. */
export interface Ready {
  vm: Vm;
  login?: LoginProof;
  /** How cloud-init came out, in a guest that was made with a seed for it. */
  cloud_init?: CloudInitOutcome;
}

/** Waits as `waitUntil` does. For the level `login` the guest must let us in, in another boot than `notBoot`. */
export async function waitReady(
  scope: ReadyScope,
  id: string,
  level: ReadinessLevel,
  wish: ProofWish = {},
): Promise<Ready> {
  const { host, driver, signal, progress } = scope;
  let login: LoginProof | undefined;
  const vm = await waitUntil(driver, id, level, {
    signal,
    progress,
    clock: host.clock,
    login: async (seen, limited) => {
      login = await proveLogin(scope, seen, wish, limited);
    },
  });
  if (GUEST_ANSWERS.has(level)) await warnOfUntold(scope, vm);
  if (login === undefined) return { vm };
  if (vm.cloud_init !== true) return { vm, login };
  progress({ message: "waiting for cloud-init in the guest" });
  return { vm, login, cloud_init: await awaitFirstBoot(scope, vm, wish, signal) };
}

/** Levels at which a guest can have been told what to panic at. */
const GUEST_ANSWERS: ReadonlySet<ReadinessLevel> = new Set<ReadinessLevel>(["heartbeat", "address", "login"]);

/** The level is reached, whatever comes of this. */
async function warnOfUntold({ driver, signal, warn }: ReadyScope, { id, name }: Vm): Promise<void> {
  try {
    const seen = await driver.crashes?.told(id, signal);
    if (seen?.problem !== undefined) warn(notToldYet(name, seen.problem));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Levels that the guest itself proves, so that its last boot could be taken for the next one. */
const BY_GUEST: ReadonlySet<ReadinessLevel> = new Set<ReadinessLevel>(["login"]);

/** The boot that must not count after a restart; `undefined` where the level does not ask the guest. */
export async function bootBefore(
  scope: ReadyScope,
  vm: Vm,
  level: ReadinessLevel,
): Promise<string | undefined> {
  return BY_GUEST.has(level) ? await lookAtBoot(scope, vm, scope.signal) : undefined;
}
