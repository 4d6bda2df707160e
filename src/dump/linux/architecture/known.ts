/** The processors whose kernels are read. */

import { ARM64 } from "./arm64.ts";
import type { LinuxArchitecture } from "./architecture.ts";
import type { CoreMachine } from "./core_machine.ts";
import { X64 } from "./x64.ts";

const ARCHITECTURES: Readonly<Record<CoreMachine["name"], LinuxArchitecture>> = { x64: X64, arm64: ARM64 };

/** How the kernel of a core is read. */
export function architectureOf({ name }: CoreMachine): LinuxArchitecture {
  return ARCHITECTURES[name];
}
