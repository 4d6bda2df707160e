/** Bringing a VM to rest. */

import { HvError, toHvError } from "../../../base/errors.ts";
import type { StopMode } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import type { HyperV } from "../client.ts";
import { stateOf } from "./states.ts";

/** Between two looks at a guest that shuts down, which takes seconds to minutes. */
const LOOK_AGAIN_MS = 200;
/** A guest that boots cannot be asked yet; it is asked again until it can. */
const ASK_AGAIN_MS = 1_000;

/** Brings a VM to `off` or `saved`. Asking the guest never becomes more than asking. */
export async function stopVm(hyperv: HyperV, id: string, mode: StopMode, scope: CallScope): Promise<void> {
  switch (mode) {
    case "off":
    case "save":
      await hyperv.changeMachine("stop_machine", id, { mode }, scope);
      return;
    case "shutdown":
      return await shutDown(hyperv, id, scope);
    case "button":
      throw new HvError("hv.unsupported", "Hyper-V has no power button to press", {
        hint: "Ask the guest with --mode shutdown, or cut the power with --mode off",
        context: { vm: id, mode },
      });
  }
}

async function shutDown(hyperv: HyperV, id: string, scope: CallScope): Promise<void> {
  const { clock } = hyperv.host;
  const isOff = async (): Promise<boolean> => {
    const seen = await hyperv.getMachine(id, scope.signal);
    const { state } = stateOf(seen.state_number, seen.state, seen.statuses);
    return state === "off" || state === "merging";
  };
  let asked = false;
  try {
    let askAt = clock.monotonic();
    while (!await isOff()) {
      if (!asked && clock.monotonic() >= askAt) {
        scope.progress({ message: "Asking the guest to shut down" });
        asked = await hyperv.askShutdown(id, scope);
        askAt = clock.monotonic() + ASK_AGAIN_MS;
        if (asked) continue;
      }
      await clock.sleep(LOOK_AGAIN_MS, scope.signal);
    }
  } catch (error) {
    const failure = toHvError(error);
    if (failure.code !== "hv.timeout") throw error;
    const because = asked
      ? "The guest did not shut down in time"
      : "The guest could not be asked to shut down";
    throw new HvError("hv.timeout", because, {
      hint: `Wait longer with --timeout, or cut its power: hvlab vm stop ${id} --mode off`,
      context: { ...failure.context, vm: id, mode: "shutdown", wanted: "off", asked },
      cause: error,
    });
  }
}
