/** A disk in a VM, looked at after a change. */

import type { DiskAttachment } from "../../contract/disk.ts";
import type { Driver } from "../../drivers/driver.ts";
import { abilityOf } from "../abilities.ts";

/** What a VM's disks are now, and what one of them is. */
export async function describeAttachment(
  driver: Driver,
  vm: string,
  path: string,
  signal: AbortSignal,
): Promise<DiskAttachment> {
  const disks = await abilityOf(driver, "disks").attached(vm, signal);
  const found = disks.find((disk) => disk.path === path);
  return {
    vm,
    path,
    attached: found?.attached ?? false,
    at_next_start: found?.at_next_start ?? false,
    disks,
  };
}
