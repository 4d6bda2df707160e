/** How the first boot of a guest came out that cloud-init sets up. */

import { HvError } from "../../base/errors.ts";
import { isPlainObject, parseJson } from "../../base/json.ts";
import type { CloudInitOutcome } from "../../contract/guest_access.ts";
import type { Vm } from "../../contract/vm.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import script from "../../guest/posix/collectors/first_boot.sh" with { type: "text" };
import { collectParts, linesOf, type Parts } from "../../guest/posix/parts.ts";
import { type AccessWish, type GuestScope, useGuest } from "../guest/use_guest.ts";

/** cloud-init takes most of a minute without KVM. */
const LOOK_AGAIN_MS = 1_000;

/** What it only warns of, though what the user gave has then not been done. */
const GIVEN_UP = /Failed loading yaml|Unhandled non-multipart|Failed at merging/i;

/**
 * Waits until cloud-init has ended and tells how. Throws `hv.job_failed` with what failed. A guest that has no cloud-init,
 * or in which it is switched off, is a warning.
 */
export async function awaitFirstBoot(
  scope: Omit<GuestScope, "vm">,
  vm: Vm,
  wish: AccessWish,
  signal: AbortSignal,
): Promise<CloudInitOutcome> {
  for (;;) {
    const { outcome, output } = await unlessLate(
      vm,
      signal,
      () => useGuest({ ...scope, vm, remembers: false }, wish, (channel) => look(channel, signal)),
    );
    switch (outcome.state) {
      case "running":
        await unlessLate(vm, signal, () => scope.host.clock.sleep(LOOK_AGAIN_MS, signal));
        continue;
      case "failed":
        throw new HvError(
          "hv.job_failed",
          `cloud-init has failed in the guest of "${vm.name}": ${outcome.errors?.[0]}`,
          {
            hint: "Mend what it was given, and make the VM anew: it runs at the first boot only",
            context: { vm: vm.id, errors: outcome.errors ?? [], warnings: outcome.warnings ?? [], output },
          },
        );
      case "absent":
      case "disabled":
        scope.warn(
          `The VM was made with a seed, and cloud-init is ${outcome.state} in its guest: nothing of it was done`,
        );
        return outcome;
      case "done":
        return outcome;
    }
  }
}

/** The limit's failure says what was waited for. */
async function unlessLate<T>(vm: Vm, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason: unknown = signal.aborted ? signal.reason : undefined;
    if (!(reason instanceof HvError) || reason.code !== "hv.timeout") throw error;
    throw new HvError("hv.timeout", `cloud-init has not ended in the guest of "${vm.name}"`, {
      hint: "Wait longer with --timeout; it takes a minute and more without hardware acceleration",
      context: { ...reason.context, vm: vm.id, wanted: "login", found: "cloud-init runs" },
      cause: error,
    });
  }
}

async function look(
  channel: GuestChannel,
  signal: AbortSignal,
): Promise<{ outcome: CloudInitOutcome; output: string }> {
  const { parts } = await collectParts(channel, script, "first boot", signal);
  return { outcome: readOutcome(parts), output: (parts.get("output") ?? "").trim() };
}

/** Reads the parts that `first_boot.sh` prints. */
export function readOutcome(parts: Parts): CloudInitOutcome {
  const [state = ""] = linesOf(parts, "state");
  if (state === "absent" || state === "disabled" || state === "running") return { state };
  const lines = linesOf(parts, "log").map((line) => line.replace(/^\S+ \S+ - /, ""));
  const givenUp = lines.filter((line) => GIVEN_UP.test(line));
  const errors = [...errorsIn(parts.get("result") ?? ""), ...givenUp];
  const warnings = lines.filter((line) => !givenUp.includes(line));
  return {
    state: errors.length > 0 ? "failed" : "done",
    ...(errors.length === 0 ? {} : { errors }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** Its own list of errors, from `{"v1": {"datasource": ..., "errors": [...]}}`. */
function errorsIn(text: string): string[] {
  try {
    const result = parseJson(text);
    const first = isPlainObject(result) ? result.v1 : undefined;
    const errors = isPlainObject(first) ? first.errors : undefined;
    if (Array.isArray(errors)) return errors.map(String);
  } catch {
    // Whatever it is, it is no success.
  }
  return ["its result.json cannot be read"];
}
