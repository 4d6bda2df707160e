/** Proving that a guest lets us in: a fresh, authenticated operation that only reads. */

import { HvError } from "../../base/errors.ts";
import type { Vm } from "../../contract/vm.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import { type AccessFacts, type AccessWish, type GuestScope, useGuest } from "./use_guest.ts";

/** What a login showed. */
export interface LoginProof extends AccessFacts {
  /** Which boot of the guest answered; `null` where the guest does not tell. */
  boot_id: string | null;
}

const BOOT_ID = "/proc/sys/kernel/random/boot_id";
const TRY_AGAIN_MS = 300;
/** Failures of a guest on its way; a read whose answer was lost may be asked again. */
const MAY_PASS: ReadonlySet<string> = new Set(["hv.guest_not_ready", "hv.outcome_unknown"]);
const BOOT_LOOK_LIMIT_MS = 3_000;

/** How a login is proved: by whom, and which boot does not count any more. */
export interface ProofWish extends AccessWish {
  notBoot?: string | undefined;
}

/**
 * Logs in and reads, again and again while the guest is not ready, until that succeeds or the signal aborts; no try
 * begins after that. A refused login ends it at once, as does a failure that is no matter of waiting.
 */
export async function proveLogin(
  scope: Omit<GuestScope, "vm">,
  vm: Vm,
  { notBoot, ...wish }: ProofWish,
  signal: AbortSignal,
): Promise<LoginProof> {
  let last: HvError | undefined;
  for (;;) {
    throwEnd(signal, last);
    try {
      const proof = await useGuest(
        { ...scope, vm, remembers: false },
        wish,
        async (channel) => ({ boot_id: await readBootId(channel, signal) }),
      );
      if (notBoot === undefined || proof.boot_id !== notBoot) return proof;
    } catch (error) {
      throwEnd(signal, last);
      if (!(error instanceof HvError) || !MAY_PASS.has(error.code)) throw error;
      last = error;
    }
    await scope.host.clock.sleep(TRY_AGAIN_MS, signal).catch(() => {});
  }
}

/** Which boot a running guest is in, as far as it tells at once; only used to tell it from a later one. */
export async function lookAtBoot(
  scope: Omit<GuestScope, "vm">,
  vm: Vm,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (vm.state !== "running") return undefined;
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(BOOT_LOOK_LIMIT_MS)]);
    const { boot_id } = await useGuest({ ...scope, vm, remembers: false }, {}, async (channel) => ({
      boot_id: await readBootId(channel, limited),
    }));
    return boot_id ?? undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function readBootId(channel: GuestChannel, signal: AbortSignal): Promise<string | null> {
  if (channel.family === "windows" || channel.name === "memory") {
    await channel.ping(signal);
    return null;
  }
  const parts: Uint8Array[] = [];
  const sinks = {
    stdout: (bytes: Uint8Array) => Promise.resolve(void parts.push(bytes.slice())),
    stderr: () => Promise.resolve(),
  };
  const { exit_code } = await channel.exec({ argv: ["cat", BOOT_ID] }, sinks, signal);
  const text = parts.map((bytes) => new TextDecoder().decode(bytes)).join("").trim();
  return exit_code === 0 && text !== "" ? text : null;
}

/** The limit's failure, with why the last try did not get in. */
function throwEnd(signal: AbortSignal, last: HvError | undefined): void {
  if (!signal.aborted) return;
  const reason: unknown = signal.reason;
  if (!(reason instanceof HvError) || last === undefined) signal.throwIfAborted();
  else throw reason.withContext({ last_failure: { code: last.code, message: last.message } });
}
