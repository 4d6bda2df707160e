/** The processors whose kernels are read. */

import { ARM64 } from "./arm64.ts";
import type { LinuxArchitecture } from "./architecture.ts";
import { X64 } from "./x64.ts";

/** All of them. */
export const ARCHITECTURES: readonly LinuxArchitecture[] = [X64, ARM64];

/** Their names, for messages. */
export const ARCHITECTURE_NAMES = "x86-64 and ARM64";

/** The one with the machine number of an ELF file; undefined when it is not read. */
export function architectureOfElf(elfMachine: number): LinuxArchitecture | undefined {
  return ARCHITECTURES.find((each) => each.elfMachine === elfMachine);
}

/** The one that answers call by that name; undefined when it is not read. */
export function architectureNamed(machine: string): LinuxArchitecture | undefined {
  return ARCHITECTURES.find((each) => each.machine === machine);
}

/** The one whose notes of registers have that size, for a container that names no machine; undefined when it is not read. */
export function architectureOfNote(noteBytes: number): LinuxArchitecture | undefined {
  return ARCHITECTURES.find(({ saved }) => saved.noteBytes === noteBytes);
}
