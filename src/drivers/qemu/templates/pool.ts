/**
 * Clones that are ready before anybody asks for one. Each is a sandbox of its own with a lease, has run a command, and
 * is halted; a claim gives it a name and a new lease and lets it go on. Who wants a pool writes a wish; whoever fills
 * pools reads the wishes and calls {@link fillPool} from time to time.
 */

import { newVmId } from "../../../base/ids.ts";
import type { CallScope } from "../../call_scope.ts";
import { openAgentChannel } from "../agent/channel.ts";
import type { QemuContext } from "../context.ts";
import { makeVm } from "../creation.ts";
import { tellMachine } from "../monitor/tell.ts";
import { observe } from "../observe.ts";
import { type VmRecord, VmRecords } from "../records.ts";
import { removeUnderLock } from "../removal.ts";
import { tryTakeVmLock } from "../vm_lock.ts";
import { agentOf } from "../vm_agent.ts";
import { basisOf, startClone } from "./clone.ts";
import { findTemplate } from "./find.ts";
import type { MachineSize } from "./fingerprint.ts";
import { takeStartSlot } from "./locks.ts";
import { membersOf } from "./pool_member.ts";
import type { PoolWish } from "./pool_wish.ts";
import type { Template } from "./record.ts";

/** A clone that nobody claims within this time is swept away like every sandbox; a filler makes a new one. */
const LEASE_MS = 3600_000;

const SILENT = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };

/** What a filling changed, by VM id. */
export interface PoolChange {
  added: string[];
  removed: string[];
}

/**
 * Brings a pool to its size: removes members that are dead, of another size or template, or too many, and makes what is
 * missing, one after the other. Without a template that fits it makes none.
 */
export async function fillPool(context: QemuContext, wish: PoolWish, scope: CallScope): Promise<PoolChange> {
  const change: PoolChange = { added: [], removed: [] };
  using found = await findTemplate(
    context,
    { ...wishedMachine(wish), name: "", ttl_s: 0, tiedToUs: false },
    scope,
  );
  const fingerprint = found?.template.record.fingerprint;
  let ready = 0;
  for (const record of await membersOf(context, wish.image)) {
    const fits = record.template?.fingerprint === fingerprint && record.memory_mb === wish.memory_mb &&
      record.cpus === wish.cpus && (await observe(context, record, scope.signal)).state === "paused";
    if (fits && ready < wish.size) ready++;
    else if (await removeMember(context, record, scope)) change.removed.push(record.id);
  }
  if (found === undefined) return change;
  for (; ready < wish.size; ready++) change.added.push(await addMember(context, wish, found.template, scope));
  return change;
}

/** Removes all ready clones of an image, claimed ones stay. Answers the ids of those removed. */
export async function drainPool(context: QemuContext, image: string, scope: CallScope): Promise<string[]> {
  const removed: string[] = [];
  for (const record of await membersOf(context, image)) {
    if (await removeMember(context, record, scope)) removed.push(record.id);
  }
  return removed;
}

/** Makes one ready: started, used once so that all it needs is translated, and halted while its agent hears us. */
async function addMember(
  context: QemuContext,
  wish: PoolWish,
  template: Template,
  scope: CallScope,
): Promise<string> {
  const { host } = context;
  const id = newVmId();
  const records = new VmRecords(context);
  using _slot = await takeStartSlot(context, scope.signal);
  const spec = { ...wishedMachine(wish), name: `pool of ${wish.image} ${id.slice(-8)}` };
  const making = {
    sandbox: { expires_at: new Date(host.clock.now() + LEASE_MS).toISOString() },
    template: { ...basisOf(template), pooled: true },
  };
  await makeVm(context, records, id, spec, making, scope, async (record) => {
    await startClone(context, records, record, template, { tiedToUs: false, asleep: true }, scope);
    await halt(context, record, scope);
  });
  return id;
}

async function halt(context: QemuContext, record: VmRecord, { signal }: CallScope): Promise<void> {
  const channel = openAgentChannel(agentOf(context, record));
  try {
    await channel.exec({ argv: ["true"] }, SILENT, signal);
    await tellMachine(context.host, record, "stop", signal);
  } finally {
    channel.close();
  }
}

/** Looks under the lock whether it is one still: somebody may have claimed it meanwhile. */
async function removeMember(context: QemuContext, seen: VmRecord, scope: CallScope): Promise<boolean> {
  await using lock = await tryTakeVmLock(context, seen.id, "removing");
  if (lock === undefined) return false;
  const record = await new VmRecords(context).find(seen.id);
  if (record?.template?.pooled !== true) return false;
  return (await removeUnderLock(context, lock, record, record.name, scope)).removed;
}

function wishedMachine({ image, memory_mb, cpus }: PoolWish): MachineSize & { image: string } {
  return { image, memory_mb, cpus };
}
