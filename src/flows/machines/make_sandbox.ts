/** From an image to a sandbox whose guest answers. */

import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import { type ErrorCode, HvError, toHvError } from "../../base/errors.ts";
import type { Share } from "../../contract/share.ts";
import type { Vm } from "../../contract/vm.ts";
import type { CallScope } from "../../drivers/call_scope.ts";
import type { Driver } from "../../drivers/driver.ts";
import { withLastWords } from "../../drivers/last_words.ts";
import { abilityOf } from "../abilities.ts";
import { renewIdentity } from "./fresh_identity.ts";
import { type KernelWish, readKernelWish } from "./kernel_wish.ts";
import { checkMachineLimits } from "./machine_limits.ts";
import { openChannel } from "../guest/open_channel.ts";
import { waitUntil } from "../waiting/wait_until.ts";

/** What a sandbox is asked to be; what is left out comes from the configuration. */
export interface SandboxWish extends KernelWish {
  image: string;
  name?: string | undefined;
  memory_mb?: number | undefined;
  cpus?: number | undefined;
  ttl_s: number;
  tiedToUs: boolean;
  /** Gives the guest a host name, machine id and SSH host keys of its own. */
  fresh_identity?: boolean | undefined;
  shares?: Share[];
  /** Leaves a sandbox whose guest has crashed or never answered where it is, to be looked at. */
  keepBroken?: boolean;
}

/** Failures after which there is something to see in the machine. */
const BROKEN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "hv.guest_crashed",
  "hv.timeout",
  "hv.outcome_unknown",
]);

/** Whether a failure leaves a machine that is worth a look. */
export function leavesEvidence(error: unknown): error is HvError {
  return error instanceof HvError && BROKEN.has(error.code);
}

/** What has become of a sandbox after a failure: one that is left could not be removed. */
export type SandboxFate = "kept" | "gone" | "left";

/** The failure of a sandbox, told for one that stays or one that is gone; other failures stay as they are. */
export function tellBroken(error: unknown, id: string, fate: SandboxFate): unknown {
  if (fate === "left" && error instanceof HvError) {
    const left = `The sandbox ${id} could not be removed`;
    return withLastWords(
      error.withContext({ vm: id }),
      undefined,
      error.hint ? `${error.hint}. ${left}` : left,
    );
  }
  if (!leavesEvidence(error)) return error;
  if (fate === "kept") {
    return withLastWords(error.withContext({ vm: id }), undefined, `The sandbox is kept: ${id}`);
  }
  if (error.code === "hv.outcome_unknown") return error;
  const longer = error.code === "hv.timeout" ? "Wait longer with --timeout; " : "";
  const advice = `${longer}the sandbox is gone, \`sandbox run --keep\` keeps the machine`;
  return withLastWords(error, undefined, advice.charAt(0).toUpperCase() + advice.slice(1));
}

/** Makes a sandbox and waits until its guest answers; a failure on the way removes it again, unless `keepBroken` holds it. */
export async function makeSandbox(
  driver: Driver,
  config: Config,
  wish: SandboxWish,
  scope: CallScope & { clock: Clock },
): Promise<Vm> {
  const abilities = abilityOf(driver, "sandboxes");
  const memory_mb = wish.memory_mb ?? config.defaults.memory_mb;
  const cpus = wish.cpus ?? config.defaults.cpus;
  if (wish.ttl_s > config.limits.sandbox_ttl_s) {
    throw new HvError("hv.policy_denied", `The limit for a lease is ${config.limits.sandbox_ttl_s} s`, {
      hint: "Ask for a shorter --ttl, or raise the limit in hvlab.yaml",
      context: { wanted: wish.ttl_s, allowed: config.limits.sandbox_ttl_s },
    });
  }
  await checkMachineLimits(driver, config.limits, { memory_mb, cpus }, scope.signal);
  const name = wish.name ?? `${wish.image}-${crypto.randomUUID().slice(0, 8)}`;
  const { image, ttl_s, tiedToUs } = wish;
  const shared = wish.shares === undefined ? {} : { shares: wish.shares };
  const spec = { name, image, memory_mb, cpus, ttl_s, tiedToUs, ...readKernelWish(wish), ...shared };
  const id = await abilities.create(spec, scope);
  try {
    const vm = await waitUntil(driver, id, "heartbeat", scope);
    if (vm.shares !== undefined) await driver.shares?.mount(vm, scope.signal);
    if (wish.fresh_identity) {
      await renewIdentity(openChannel(driver, vm, config.policy.channels), name, scope.signal);
    }
    return vm;
  } catch (error) {
    if (wish.keepBroken === true && leavesEvidence(error)) throw tellBroken(error, id, "kept");
    throw tellBroken(error, id, await removeSandbox(driver, id, scope));
  }
}

/**
 * Removes a sandbox even when the call that made it has been cancelled: clean-up has a limit of its own. Never throws, since
 * the call has its result or its failure by then: a sandbox that is left costs a warning.
 */
export async function removeSandbox(
  driver: Driver,
  id: string,
  scope: CallScope,
): Promise<Exclude<SandboxFate, "kept">> {
  try {
    await driver.vms.remove(id, { ...scope, signal: AbortSignal.timeout(CLEANUP_LIMIT_MS) });
    return "gone";
  } catch (error) {
    scope.warn?.(`The sandbox ${id} could not be removed: ${toHvError(error).message}`);
    return "left";
  }
}

const CLEANUP_LIMIT_MS = 30_000;
