/** Drivers that were unloaded before the crash, as the kernel remembers them. */

import type { VirtualMemory } from "../../memory/virtual.ts";
import type { UnloadedModule } from "../../modules.ts";
import type { DebuggerData } from "./debugger_data.ts";
import { countedText } from "./loaded_modules.ts";

/** Entries of the kernel's ring, the same in every version. */
const RING_ENTRIES = 50;

/** UNLOADED_DRIVERS: name, start, end, time; from the kernel's public symbols. */
const ENTRY = {
  64: { size: 0x28, start: 0x10, end: 0x18 },
  32: { size: 0x18, start: 0x08, end: 0x0C },
} as const;

/**
 * Reads the ring of unloaded drivers, latest first. Entries that are not in the dump or have no range are left out;
 * a name that is not in the dump is `unknown`.
 */
export function readUnloadedDrivers(memory: VirtualMemory, data: DebuggerData): UnloadedModule[] {
  const variable = data.variable("unloaded_drivers");
  const ring = variable === null ? undefined : memory.pointer(variable);
  if (ring === undefined || ring === 0n) return [];
  const counter = data.variable("last_unloaded_driver");
  const next = (counter === null ? undefined : memory.u32(counter)) ?? 0;
  const found: UnloadedModule[] = [];
  for (let step = 1; step <= RING_ENTRIES; step++) {
    const index = (next % RING_ENTRIES - step + RING_ENTRIES) % RING_ENTRIES;
    const entry = readEntry(memory, ring + BigInt(index * ENTRY[memory.bits].size));
    if (entry !== null) found.push(entry);
  }
  return found;
}

function readEntry(memory: VirtualMemory, address: bigint): UnloadedModule | null {
  const layout = ENTRY[memory.bits];
  const bytes = memory.read(address, layout.size);
  if (bytes === undefined) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pointer = (offset: number): bigint =>
    memory.bits === 64 ? view.getBigUint64(offset, true) : BigInt(view.getUint32(offset, true));
  const start = pointer(layout.start);
  const end = pointer(layout.end);
  if (start === 0n || end <= start) return null;
  const name = countedText(memory, view, 0) ?? "unknown";
  return { name, start, end, timeDateStamp: null, checkSum: null };
}
