/** The processors whose cores are opened. */

import { ARM64_MACHINE } from "./arm64_registers.ts";
import type { CoreMachine } from "./core_machine.ts";
import { X64_MACHINE } from "./x64_registers.ts";

/** All of them. */
export const CORE_MACHINES: readonly CoreMachine[] = [X64_MACHINE, ARM64_MACHINE];

/** Their names, for messages. */
export const CORE_MACHINE_NAMES = "x86-64 and ARM64";

/** The one with the machine number of an ELF file; undefined when it is not opened. */
export function machineOfElf(elfNumber: number): CoreMachine | undefined {
  return CORE_MACHINES.find((each) => each.elfNumber === elfNumber);
}

/** The one that answers call by that name; undefined when it is not opened. */
export function machineNamed(name: string): CoreMachine | undefined {
  return CORE_MACHINES.find((each) => each.name === name);
}

/** The one whose notes of registers have that size, for a container that names no machine; undefined when none has. */
export function machineOfNote(noteBytes: number): CoreMachine | undefined {
  return CORE_MACHINES.find((each) => each.noteBytes === noteBytes);
}
