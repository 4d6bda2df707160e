/** The names of Windows' bug checks in what a VM lived through. */

import { isPlainObject } from "../../base/json.ts";
import type { VmEvent } from "../../contract/vm.ts";

/** Adds `name` to each `bug_check` whose code is known. */
export async function nameBugChecks(events: readonly VmEvent[]): Promise<VmEvent[]> {
  return await Promise.all(events.map(nameBugCheck));
}

async function nameBugCheck(event: VmEvent): Promise<VmEvent> {
  const check = event.details.bug_check;
  if (!isPlainObject(check) || typeof check.code !== "string") return event;
  // The tables take longer to load than the rest of this call.
  const { nameBugcheck } = await import("../../dump/bugchecks/catalogue.ts");
  const name = check.code === "" ? null : await nameBugcheck(Number(check.code));
  if (name === null) return event;
  return { ...event, details: { ...event.details, bug_check: { ...check, name } } };
}
