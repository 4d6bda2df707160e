/** Offsets inside processes and threads that no kernel tells: they differ by build and processor. */

import type { ContextMachine } from "../context.ts";

/** Offsets of a process's id and image name, and of a thread's client id (process id, then thread id). */
export interface ProcessOffsets {
  readonly processId: number;
  readonly imageName: number;
  /** Null where no source states it. */
  readonly clientId: number | null;
}

interface Row extends ProcessOffsets {
  readonly machine: ContextMachine;
  /** First build with these offsets; they hold up to the next row of the same machine. */
  readonly fromBuild: number;
}

/** From public symbols, as rizin and volatility3 list them; 19041 and ARM64 22000 checked on real dumps. */
const ROWS: readonly Row[] = [
  { machine: "x86", fromBuild: 2600, processId: 0x84, imageName: 0x174, clientId: null },
  // Server 2003 and Windows Vista x86 have no row: no source states them.
  { machine: "x86", fromBuild: 3790, processId: -1, imageName: -1, clientId: null },
  { machine: "x86", fromBuild: 7600, processId: 0xB4, imageName: 0x16C, clientId: null },
  { machine: "x86", fromBuild: 9200, processId: -1, imageName: -1, clientId: null },
  { machine: "x64", fromBuild: 3790, processId: 0xD8, imageName: 0x268, clientId: null },
  { machine: "x64", fromBuild: 6000, processId: 0xE0, imageName: 0x238, clientId: null },
  { machine: "x64", fromBuild: 7600, processId: 0x180, imageName: 0x2E0, clientId: 0x3B0 },
  { machine: "x64", fromBuild: 9200, processId: 0x2E0, imageName: 0x438, clientId: null },
  { machine: "x64", fromBuild: 10240, processId: 0x2E8, imageName: 0x450, clientId: null },
  { machine: "x64", fromBuild: 14393, processId: 0x2E8, imageName: 0x450, clientId: 0x630 },
  { machine: "x64", fromBuild: 15063, processId: 0x2E0, imageName: 0x450, clientId: null },
  { machine: "x64", fromBuild: 17134, processId: 0x2E0, imageName: 0x450, clientId: 0x638 },
  { machine: "x64", fromBuild: 17763, processId: 0x2E0, imageName: 0x450, clientId: null },
  { machine: "x64", fromBuild: 18362, processId: 0x2E8, imageName: 0x450, clientId: 0x648 },
  { machine: "x64", fromBuild: 19041, processId: 0x440, imageName: 0x5A8, clientId: 0x478 },
  { machine: "x64", fromBuild: 20348, processId: 0x440, imageName: 0x5A8, clientId: null },
  { machine: "x64", fromBuild: 26100, processId: 0x1D0, imageName: 0x338, clientId: null },
  { machine: "arm64", fromBuild: 22000, processId: 0x3F8, imageName: 0x560, clientId: 0x4E8 },
];

/** The offsets of a build; null when they are not known. They are claims: what is read by them is checked. */
export function processOffsets(machine: ContextMachine, build: number | null): ProcessOffsets | null {
  const row = ROWS.findLast((each) => each.machine === machine && each.fromBuild <= (build ?? 0));
  return row === undefined || row.processId < 0 ? null : row;
}
