/** The lists that a small memory dump keeps in its file: loaded and unloaded drivers. */

import type { ByteReader } from "../../bytes.ts";
import { lastPathPart, type LoadedModule, ModuleList, type UnloadedModule } from "../../modules.ts";
import { hexPointer } from "../../numbers.ts";
import { type DumpWarning, readPart } from "../../reasons.ts";
import type { TriageHeader } from "../triage.ts";
import { MAXIMUM_MODULES } from "./loaded_modules.ts";

/** An entry of the driver list: offset of the name, then a loader entry of the old form. */
const DRIVER_ENTRY = {
  64: { size: 0x90, base: 0x38, sizeOfImage: 0x48, checkSum: 0x80, timeDateStamp: 0x88 },
  32: { size: 0x4C, base: 0x1C, sizeOfImage: 0x24, checkSum: 0x44, timeDateStamp: 0x48 },
} as const;

/** An entry of the list of unloaded drivers: a string head, the first 12 characters, and the range. */
const UNLOADED_ENTRY = {
  64: { first: 8, size: 56, text: 16, start: 40, end: 48 },
  32: { first: 4, size: 40, text: 8, start: 32, end: 36 },
} as const;

const UNLOADED_TEXT_BYTES = 24;
const LONGEST_NAME_UNITS = 1024;
/** The kernel remembers 50; a list in a file is not longer than this. */
const MAXIMUM_UNLOADED = 256;

/** Reads the driver list. Warns (`list_count`, `truncated`) when it claims more than the file can hold. */
export function readTriageDrivers(
  reader: ByteReader,
  header: TriageHeader,
  bits: 32 | 64,
  warnings: DumpWarning[],
): ModuleList {
  const layout = DRIVER_ENTRY[bits];
  const list = header.driver_list_offset;
  const claimed = header.driver_count;
  const room = Math.min(MAXIMUM_MODULES, Math.max(0, Math.floor((reader.size - list) / layout.size)));
  if (claimed > room) {
    warnings.push({
      reason: "list_count",
      message: `The driver list claims ${claimed} entries, there is room for ${room}`,
      offset: list,
      expected: claimed,
      actual: room,
    });
  }
  // One read for the list: the names lie elsewhere, and going back and forth would read both again and again.
  const count = Math.min(claimed, room);
  const bytes = count === 0 ? new Uint8Array(0) : reader.bytes(list, count * layout.size, "driver list");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const modules = Array.from({ length: count }, (_, index): LoadedModule => {
    const entry = index * layout.size;
    const base = bits === 64
      ? view.getBigUint64(entry + layout.base, true)
      : BigInt(view.getUint32(entry + layout.base, true));
    const path = readPart(warnings, () => countedName(reader, view.getUint32(entry, true)));
    return {
      name: path === null ? `module at ${hexPointer(base, bits)}` : lastPathPart(path),
      path,
      base,
      size: view.getUint32(entry + layout.sizeOfImage, true),
      timeDateStamp: view.getUint32(entry + layout.timeDateStamp, true),
      checkSum: view.getUint32(entry + layout.checkSum, true),
      exceptionTable: null,
      codeView: null,
      version: null,
    };
  });
  return new ModuleList(modules, claimed > room);
}

/** Reads the list of unloaded drivers; empty when the dump has none. Warns when it claims more than there is. */
export function readTriageUnloaded(
  reader: ByteReader,
  header: TriageHeader,
  bits: 32 | 64,
  warnings: DumpWarning[],
): UnloadedModule[] {
  const layout = UNLOADED_ENTRY[bits];
  const list = header.unloaded_drivers_offset;
  if (list === 0 || !reader.has(list, layout.first)) return [];
  const claimed = bits === 64
    ? reader.u64(list, "unloaded drivers")
    : BigInt(reader.u32(list, "unloaded drivers"));
  const room = Math.min(MAXIMUM_UNLOADED, Math.floor((reader.size - list - layout.first) / layout.size));
  if (claimed > BigInt(room)) {
    warnings.push({
      reason: "list_count",
      message: `The list of unloaded drivers claims ${claimed} entries, there is room for ${room}`,
      offset: list,
      actual: room,
    });
    return [];
  }
  const found: UnloadedModule[] = [];
  for (let index = 0; index < Number(claimed); index++) {
    const entry = list + layout.first + index * layout.size;
    const units = Math.min(reader.u16(entry, "name length"), UNLOADED_TEXT_BYTES);
    found.push({
      name: reader.utf16(entry + layout.text, units, "driver name"),
      start: pointerAt(reader, entry + layout.start, bits),
      end: pointerAt(reader, entry + layout.end, bits),
      timeDateStamp: null,
      checkSum: null,
    });
  }
  return found;
}

function countedName(reader: ByteReader, offset: number): string | null {
  const units = reader.u32(offset, "driver name");
  const text = reader.utf16(offset + 4, Math.min(units, LONGEST_NAME_UNITS) * 2, "driver name");
  return text === "" ? null : text;
}

function pointerAt(reader: ByteReader, offset: number, bits: 32 | 64): bigint {
  return bits === 64 ? reader.u64(offset, "address") : BigInt(reader.u32(offset, "address"));
}
