/** The history of machines as the rest of hvlab sees it. */

import { seeKeeper } from "../../../state/keeper_mark.ts";
import type { EventAbilities } from "../../vm_extras.ts";
import { isWatched } from "./background.ts";
import type { QemuContext } from "../context.ts";
import { isEnd, missedEvent } from "./events.ts";
import { isOfState, ProcessView } from "../identity.ts";
import { observe } from "../observe.ts";
import type { VmRecords } from "../records.ts";

/** The longest that a keeper was seen to be behind is a tenth of it. */
const BEHIND_MS = 2_000;
const LOOK_AGAIN_MS = 50;

/** Reads the history; `undefined` where there is none to read. */
export function openHistory(context: QemuContext, records: VmRecords): EventAbilities | undefined {
  const { events } = context;
  if (events === undefined) return undefined;
  return {
    async history(vm, options, signal) {
      if (vm !== undefined) await awaitKeeper(context, records, vm, signal);
      return await events.list({ ...options, ...(vm === undefined ? {} : { vm }) });
    },
    async gap() {
      const { alive } = await seeKeeper(context.host, context.state);
      if (alive || !await hasMachines(context)) return undefined;
      return "No keeper runs, so nothing is being recorded; the next call that changes something starts one";
    },
  };
}

/**
 * A keeper that lives is moments behind what it sees, so a VM that has just crashed or ended is given the time until that
 * is written down.
 */
async function awaitKeeper(
  context: QemuContext,
  records: VmRecords,
  vm: string,
  signal: AbortSignal,
): Promise<void> {
  const { host, events } = context;
  const record = await records.find(vm);
  if (record === undefined || !isWatched(record)) return;
  const end = host.clock.monotonic() + BEHIND_MS;
  while (host.clock.monotonic() < end && (await seeKeeper(host, context.state)).alive) {
    const { alive, status } = await observe(context, record, signal);
    const last = (await events?.list({ vm, limit: 1 }))?.at(-1);
    if (last === undefined) return;
    const isBehind = alive
      ? status !== undefined && missedEvent(status, last) !== undefined
      : !isEnd(last.event);
    if (!isBehind) return;
    await host.clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

/** Whether any machine of this state folder may run. */
async function hasMachines(context: QemuContext): Promise<boolean> {
  const { files } = context.host;
  if (await files.stat(context.state.vms, { follow: true }) === undefined) return false;
  if ((await files.list(context.state.vms)).length === 0) return false;
  return (await new ProcessView(context).all()).some((process) => isOfState(context, process));
}
