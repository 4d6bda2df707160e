/** Drivers that are loaded, from the kernel's own list. */

import { at, type Field } from "../../layout.ts";
import { readMappedHeaders } from "../../mapped_image.ts";
import type { VirtualMemory } from "../../memory/virtual.ts";
import { lastPathPart, type LoadedModule, ModuleList } from "../../modules.ts";
import { hex, hexPointer } from "../../numbers.ts";
import type { DumpReason, DumpWarning } from "../../reasons.ts";

/** KLDR_DATA_TABLE_ENTRY by width; the time stamp moved with Windows Vista. */
export const LOADER_ENTRY = {
  64: {
    exception_table: at(0x10, 8, "kdmp-parser-rs"),
    exception_table_size: at(0x18, 4, "kdmp-parser-rs"),
    base: at(0x30, 8, "kdmp-parser-rs"),
    size_of_image: at(0x40, 4, "kdmp-parser-rs"),
    full_name: at(0x48, 16, "kdmp-parser-rs"),
    base_name: at(0x58, 16, "kdmp-parser-rs"),
    check_sum: at(0x78, 4, "kdmp-parser-rs"),
    time_date_stamp: at(0x9C, 4, "debugger-observed"),
    older_time_date_stamp: at(0x80, 4, "rizin"),
    size: 0xA0,
  },
  32: {
    exception_table: null,
    exception_table_size: null,
    base: at(0x18, 4, "rekall"),
    size_of_image: at(0x20, 4, "rekall"),
    full_name: at(0x24, 8, "rekall"),
    base_name: at(0x2C, 8, "rekall"),
    check_sum: at(0x40, 4, "rekall"),
    time_date_stamp: at(0x58, 4, "debugger-observed"),
    older_time_date_stamp: at(0x44, 4, "rekall"),
    size: 0x5C,
  },
} as const;

const FIRST_BUILD_OF_VISTA = 6000;
/** No machine has as many drivers. */
export const MAXIMUM_MODULES = 4096;
/** Names longer than this are none. */
const LONGEST_NAME_BYTES = 2048;

/**
 * Walks the list that begins at `head` (PsLoadedModuleList). Bounded by {@link MAXIMUM_MODULES} and by the first
 * address that comes again. What cuts the list is a warning: `list_cut`, `list_loop` or `list_count`.
 */
export function walkLoadedModules(
  memory: VirtualMemory,
  head: bigint,
  build: number | null,
  warnings: DumpWarning[],
): ModuleList {
  const modules: LoadedModule[] = [];
  const seen = new Set<bigint>([head]);
  const cut = (reason: DumpReason, why: string): ModuleList => {
    warnings.push({
      reason,
      message: `The list of loaded modules at ${
        hexPointer(head, memory.bits)
      } ends after ${modules.length}: ${why}`,
      actual: modules.length,
    });
    return new ModuleList(modules, true);
  };
  let entry = memory.pointer(head);
  while (entry !== head) {
    if (entry === undefined) return cut("list_cut", "the next entry is not in the dump");
    if (seen.has(entry)) return cut("list_loop", `${hex(entry)} comes again`);
    if (modules.length >= MAXIMUM_MODULES) {
      return cut("list_count", "there are more entries than any machine has");
    }
    seen.add(entry);
    const module = readEntry(memory, entry, build);
    if (module === null) return cut("list_cut", `the entry at ${hex(entry)} is not in the dump`);
    if (module.base !== 0n) modules.push(module);
    entry = memory.pointer(entry);
  }
  return new ModuleList(modules);
}

function readEntry(memory: VirtualMemory, address: bigint, build: number | null): LoadedModule | null {
  const layout = LOADER_ENTRY[memory.bits];
  const bytes = memory.read(address, layout.size);
  if (bytes === undefined) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pointer = (offset: number): bigint =>
    memory.bits === 64 ? view.getBigUint64(offset, true) : BigInt(view.getUint32(offset, true));
  const number = (field: Field): number => view.getUint32(field.offset, true);
  const base = pointer(layout.base.offset);
  const stamp = (build ?? FIRST_BUILD_OF_VISTA) >= FIRST_BUILD_OF_VISTA
    ? layout.time_date_stamp
    : layout.older_time_date_stamp;
  const path = countedText(memory, view, layout.full_name.offset);
  const name = countedText(memory, view, layout.base_name.offset) ??
    (path === null ? `module at ${hexPointer(base, memory.bits)}` : lastPathPart(path));
  const image = readMappedHeaders(memory, base);
  const table = layout.exception_table === null ? 0n : pointer(layout.exception_table.offset);
  const tableSize = layout.exception_table_size === null ? 0 : number(layout.exception_table_size);
  return {
    name,
    path,
    base,
    size: image?.sizeOfImage ?? number(layout.size_of_image),
    timeDateStamp: image?.timeDateStamp ?? number(stamp),
    checkSum: image?.checkSum ?? number(layout.check_sum),
    exceptionTable: table === 0n || tableSize === 0 ? null : { address: table, size: tableSize },
    codeView: null,
    version: null,
  };
}

/** The text of a UNICODE_STRING inside `view`; null when it is empty or not in the dump. */
export function countedText(memory: VirtualMemory, view: DataView, offset: number): string | null {
  const length = Math.min(view.getUint16(offset, true), LONGEST_NAME_BYTES);
  const buffer = memory.bits === 64
    ? view.getBigUint64(offset + 8, true)
    : BigInt(view.getUint32(offset + 4, true));
  if (length === 0 || buffer === 0n) return null;
  const text = memory.utf16(buffer, length);
  return text === undefined || text === "" ? null : text;
}
