/**
 * Function table entries that exception dispatch left on the stack. Its unwinder keeps a table of pairs, image base
 * and address of the entry, and a small dump captures the memory around addresses that its stack holds: so the
 * entries of the functions that matter are often there when the images are not.
 */

import type { VirtualMemory } from "../memory/virtual.ts";
import type { LoadedModule, ModuleList } from "../modules.ts";
import { ENTRY_BYTES, parseEntry } from "./function_table.ts";

const SEARCHED_BYTES = 64 * 1024;
const MAXIMUM_ENTRIES = 512;
/** No code lies in an image's header page. */
const FIRST_CODE = 0x1000;

/** Entries by image base and then by where a function begins, from the stack between two addresses. x64 only. */
export function findCapturedEntries(
  memory: VirtualMemory,
  modules: ModuleList,
  start: bigint,
  end: bigint | null,
): Map<bigint, Map<number, Uint8Array>> {
  const found = new Map<bigint, Map<number, Uint8Array>>();
  const first = start & ~7n;
  const room = end === null || end <= first ? SEARCHED_BYTES : Math.min(SEARCHED_BYTES, Number(end - first));
  const { bytes } = memory.readUpTo(first, room);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let entries = 0;
  for (let at = 0; at + 16 <= bytes.length && entries < MAXIMUM_ENTRIES; at += 8) {
    const base = view.getBigUint64(at, true);
    const module = base === 0n ? null : modules.at(base);
    if (module === null || module.base !== base) continue;
    const entry = readEntry(memory, module, view.getBigUint64(at + 8, true));
    if (entry === null) continue;
    const known = found.get(base) ?? new Map<number, Uint8Array>();
    known.set(parseEntry(entry).begin, entry);
    found.set(base, known);
    entries++;
  }
  return found;
}

function readEntry(memory: VirtualMemory, module: LoadedModule, address: bigint): Uint8Array | null {
  if (address <= module.base || address >= module.base + BigInt(module.size)) return null;
  const raw = memory.read(address, ENTRY_BYTES.x64);
  if (raw === undefined) return null;
  const { begin, second, third } = parseEntry(raw);
  return begin >= FIRST_CODE && begin < second && second <= module.size && third < module.size ? raw : null;
}

/** Whether an address lies inside one of the functions, behind its first instruction, as return addresses do. */
export function isInCapturedFunction(
  captured: ReadonlyMap<bigint, ReadonlyMap<number, Uint8Array>>,
  module: LoadedModule,
  address: bigint,
): boolean {
  const rva = Number(address - module.base);
  for (const raw of captured.get(module.base)?.values() ?? []) {
    const { begin, second } = parseEntry(raw);
    if (rva > begin && rva < second) return true;
  }
  return false;
}
