/** A Linux core whatever its container: physical memory, processors, and the kernel's own note. */

import type { PhysicalMemory } from "../../memory/physical.ts";
import type { DumpWarning } from "../../reasons.ts";
import type { CoreMachine } from "../architecture/core_machine.ts";
import type { CoreProcessor } from "./processor_notes.ts";

/** A piece of physical memory. */
export interface MemoryPiece {
  /** Physical address of its first byte, a multiple of 4096. */
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** An opened core. */
export interface LinuxCore {
  readonly kind: "elf_core" | "kdump" | "kdump_flattened";
  readonly machine: CoreMachine;
  readonly physical: PhysicalMemory;
  readonly processors: readonly CoreProcessor[];
  /** Text of VMCOREINFO; null when the container has none. */
  readonly vmcoreinfo: string | null;
  /** All memory in whole pages, from the top down, for searches. */
  readonly pieces: () => Iterable<MemoryPiece>;
  /** What the container lacks; it may grow while pages are read. */
  readonly warnings: readonly DumpWarning[];
}
