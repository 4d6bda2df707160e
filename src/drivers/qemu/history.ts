/** The history of machines as the rest of hvlab sees it. */

import { seeKeeper } from "../../state/keeper_mark.ts";
import type { EventAbilities } from "../vm_extras.ts";
import type { QemuContext } from "./context.ts";
import { isOfState, ProcessView } from "./identity.ts";

/** Reads the history; `undefined` where there is none to read. */
export function openHistory(context: QemuContext): EventAbilities | undefined {
  const { events } = context;
  if (events === undefined) return undefined;
  return {
    history: (vm, options) => events.list({ ...options, ...(vm === undefined ? {} : { vm }) }),
    async gap() {
      const { alive } = await seeKeeper(context.host, context.state);
      if (alive || !await hasMachines(context)) return undefined;
      return "No keeper runs, so nothing is being recorded; the next call that changes something starts one";
    },
  };
}

/** Whether any machine of this state folder may run. */
async function hasMachines(context: QemuContext): Promise<boolean> {
  const { files } = context.host;
  if (await files.stat(context.state.vms, { follow: true }) === undefined) return false;
  if ((await files.list(context.state.vms)).length === 0) return false;
  return (await new ProcessView(context).all()).some((process) => isOfState(context, process));
}
