/** The limits of the configuration, held against one more machine. */

import type { Limits } from "../../config/config.ts";
import { HvError } from "../../base/errors.ts";
import type { Driver } from "../../drivers/driver.ts";

/** Refuses a machine that is larger, or one more, than the configuration allows. */
export async function checkMachineLimits(
  driver: Driver,
  limits: Limits,
  size: { memory_mb: number; cpus: number },
  signal: AbortSignal,
): Promise<void> {
  checkMachineSize(limits, size);
  const { vms } = await driver.vms.list(signal);
  if (vms.length >= limits.vms) throw over("vms", vms.length + 1, limits.vms);
}

/** Refuses a machine that is larger than the configuration allows; what is left out is not asked for. */
export function checkMachineSize(
  limits: Limits,
  size: { memory_mb?: number | undefined; cpus?: number | undefined },
): void {
  for (const field of ["memory_mb", "cpus"] as const) {
    const wanted = size[field];
    if (wanted !== undefined && wanted > limits[field]) throw over(field, wanted, limits[field]);
  }
}

function over(field: string, wanted: number, allowed: number): HvError {
  return new HvError(
    "hv.policy_denied",
    `The limit for ${field} is ${allowed}, and ${wanted} would be needed`,
    {
      hint: "Remove a VM, ask for less, or raise the limit in hvlab.yaml",
      context: { field, wanted, allowed },
    },
  );
}
