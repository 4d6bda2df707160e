/** The way into a kernel's memory. */

import { architectureOf } from "../architecture/known.ts";
import type { LinuxCore } from "../containers/core.ts";
import { KernelMemory } from "./kernel_memory.ts";
import type { Vmcoreinfo } from "./vmcoreinfo.ts";

/** The kernel's memory through its own page tables. Fails with `hv.bad_dump` (`vmcoreinfo`) when their root is not stated. */
export function openKernelMemory({ machine, physical }: LinuxCore, info: Vmcoreinfo): KernelMemory {
  return new KernelMemory(architectureOf(machine).openSpace(physical, info));
}
