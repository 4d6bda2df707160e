/** What a driver with the feature `dumps` must do. */

import type { CallScope } from "./call_scope.ts";

/**
 * How a guest's memory is written: `elf` is a core file of the machine's physical memory, which any guest gives;
 * `win_dmp` is Windows' own format, which needs a guest whose driver has told the machine where its dump header lies.
 */
export type MemoryDumpFormat = "elf" | "win_dmp";

export interface MemoryDumpOptions {
  format: MemoryDumpFormat;
  /** Leaves holes where memory holds zeros. The file reads the same and takes less room. */
  sparse: boolean;
  /** Replaces a file that is there already; without it such a file is `hv.conflict`. */
  overwrite: boolean;
}

/** A file of memory that was written. */
export interface MemoryDump {
  format: MemoryDumpFormat;
  size_bytes: number;
  /** What it takes on the disk; `null` where the platform does not tell. */
  allocated_bytes: number | null;
}

/** A guest's memory as a file. */
export interface MemoryDumpAbilities {
  /**
   * Writes the memory of a VM that runs, is paused or has crashed. A guest that runs stands still meanwhile and goes on
   * afterwards, whatever comes of it; one that stood still stays so. The file appears whole or not at all, and a
   * caller that is killed leaves the guest as it was. Throws `hv.conflict` in other states and beside other work on the VM,
   * `hv.unsupported` with the reason `no_dump_header` when the guest cannot give `win_dmp`, `hv.io` with the reason
   * `disk_full` when there is no room.
   */
  dump(id: string, file: string, options: MemoryDumpOptions, scope: CallScope): Promise<MemoryDump>;
}
