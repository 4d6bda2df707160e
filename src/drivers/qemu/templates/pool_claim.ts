/** Taking a ready clone out of a pool. */

import { toHvError } from "../../../base/errors.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { refuseTakenName, takeNames } from "../creation.ts";
import { tellMachine } from "../monitor/tell.ts";
import { type VmRecord, VmRecords } from "../records.ts";
import { tryTakeVmLock } from "../vm_lock.ts";
import type { MachineSize } from "./fingerprint.ts";
import { membersOf } from "./pool_member.ts";
import { readTemplate } from "./record.ts";
import { wakeGuest } from "./wake.ts";
import { openWakingLink, type WakingPhase } from "./waking_link.ts";

/** What a claimed clone becomes. */
export interface Claim extends MachineSize {
  image: string;
  name: string;
  sandbox: NonNullable<VmRecord["sandbox"]>;
  /** Called with the id before the clone can be seen under its new name. */
  beforeNaming?: (id: string) => Promise<void>;
}

/**
 * Takes a ready clone out of the pool, names it and lets it go on, with the time and randomness of its own. Answers its
 * id, or `undefined` when none is ready: a clone that does not come up is removed and the next one is tried.
 */
export async function claimFromPool(
  context: QemuContext,
  claim: Claim,
  scope: CallScope,
): Promise<string | undefined> {
  const now = context.host.clock.now();
  for (const seen of await membersOf(context, claim.image)) {
    if (seen.memory_mb !== claim.memory_mb || seen.cpus !== claim.cpus) continue;
    if (Date.parse(seen.sandbox?.expires_at ?? "") <= now) continue;
    await using lock = await tryTakeVmLock(context, seen.id, "starting");
    if (lock === undefined) continue;
    const record = await new VmRecords(context).find(seen.id);
    if (record?.template?.pooled !== true) continue;
    if (await takeOver(context, record, claim, scope)) return record.id;
  }
  return undefined;
}

/** The caller holds the member's lock. */
async function takeOver(
  context: QemuContext,
  record: VmRecord,
  claim: Claim,
  scope: CallScope,
): Promise<boolean> {
  const { host } = context;
  const fingerprint = record.template?.fingerprint ?? "";
  const template = await readTemplate(context, claim.image, fingerprint).catch(() => undefined);
  if (template === undefined) return false;
  const records = new VmRecords(context);
  await claim.beforeNaming?.(record.id);
  {
    using _names = await takeNames(context, scope.signal);
    await refuseTakenName(records, claim.name);
    await records.save({
      ...record,
      name: claim.name,
      sandbox: claim.sandbox,
      template: { fingerprint },
    });
  }
  let phase: WakingPhase = "waking";
  const over = new AbortController();
  const awake = wakeGuest(
    openWakingLink(context, record, () => phase),
    host.clock,
    template.record.waking,
    AbortSignal.any([scope.signal, over.signal]),
  );
  awake.catch(() => {});
  try {
    await tellMachine(host, record, "cont", scope.signal);
    await awake;
    phase = "awake";
    return true;
  } catch (error) {
    // The waking waits for its guest without a limit.
    over.abort();
    await awake.catch(() => {});
    // Whoever gave up does not know it under its new name: the next sweep takes it.
    await records.save({ ...record, sandbox: { expires_at: new Date(host.clock.now()).toISOString() } });
    scope.signal.throwIfAborted();
    scope.warn?.(`A ready clone did not come up: ${toHvError(error).message}`);
    return false;
  }
}
