/** Names that a call gives to VMs which are there already, where the policy goes by names. */

import type { Config } from "../config/config.ts";
import { denied } from "./policy.ts";
import type { DoorName } from "./tool.ts";

/**
 * Refuses to give a name that the policy frees of plan tokens to what already has a life of its own: a call would
 * relax the policy for it. A new VM may have such a name when nothing of anybody is in it.
 */
export function checkGivenName({ policy, file }: Config, door: DoorName, name: string): void {
  if (door === "cli" || !policy.exec_without_plan.includes(name)) return;
  throw denied(`The policy frees the name "${name}" of plan tokens, so it is not given to another VM`, file, {
    name,
  });
}

/**
 * Refuses to take a VM of somebody else under a name that the policy allows: a call would choose which VMs may be used.
 * Under the name that it has it is let in as any other.
 */
export function checkAdoptedName({ policy, file }: Config, name: string): void {
  if (policy.vms === null || !policy.vms.includes(name)) return;
  throw denied(`The policy allows the name "${name}", so it is not given to a VM of somebody else`, file, {
    name,
  });
}
