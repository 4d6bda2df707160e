/** The triage header (type 4, small memory dumps): which parts there are, and whether the file is complete. */

import type { ByteReader } from "../bytes.ts";
import { at, type Layout } from "../layout.ts";
import { hex } from "../numbers.ts";
import type { DumpWarning } from "../reasons.ts";
import { walkSecondaryData } from "./secondary_data.ts";

/** Parts that both forms state, from the end of the dump header. */
const COMMON = {
  service_pack_build: at(0x00, 4, "rizin"),
  size_of_dump: at(0x04, 4, "rizin"),
  valid_offset: at(0x08, 4, "rizin"),
  context_offset: at(0x0C, 4, "rizin"),
  exception_offset: at(0x10, 4, "rizin"),
  mm_offset: at(0x14, 4, "rizin"),
  unloaded_drivers_offset: at(0x18, 4, "rizin"),
  prcb_offset: at(0x1C, 4, "rizin"),
  process_offset: at(0x20, 4, "rizin"),
  thread_offset: at(0x24, 4, "rizin"),
  call_stack_offset: at(0x28, 4, "rizin"),
  size_of_call_stack: at(0x2C, 4, "rizin"),
  driver_list_offset: at(0x30, 4, "rizin"),
  driver_count: at(0x34, 4, "rizin"),
  string_pool_offset: at(0x38, 4, "rizin"),
  string_pool_size: at(0x3C, 4, "rizin"),
  broken_driver_offset: at(0x40, 4, "rizin"),
  triage_options: at(0x44, 4, "rizin"),
} as const;

/** TRIAGE_DUMP64, 0x80 bytes. */
export const TRIAGE64 = {
  ...COMMON,
  top_of_stack: at(0x48, 8, "rizin"),
  debugger_data_offset: at(0x70, 4, "rizin"),
  debugger_data_size: at(0x74, 4, "rizin"),
  data_blocks_offset: at(0x78, 4, "rizin"),
  data_blocks_count: at(0x7C, 4, "rizin"),
} as const satisfies Layout;

/** TRIAGE_DUMP32, 0x68 bytes. */
export const TRIAGE32 = {
  ...COMMON,
  top_of_stack: at(0x48, 4, "ghidra"),
  debugger_data_offset: at(0x58, 4, "ghidra"),
  debugger_data_size: at(0x5C, 4, "ghidra"),
  data_blocks_offset: at(0x60, 4, "ghidra"),
  data_blocks_count: at(0x64, 4, "ghidra"),
} as const satisfies Layout;

/** Fields of the triage header by the name in its layout; `top_of_stack` is an address, the rest offsets and counts. */
export type TriageHeader = {
  readonly [Name in keyof typeof TRIAGE64]: Name extends "top_of_stack" ? bigint : number;
};

/** What the inspection tells of a triage dump. */
export interface TriageSummary {
  header: TriageHeader;
  drivers: number;
  unloadedDrivers: number | null;
  dataBlocks: number;
  /** Size of the dump proper; secondary data may follow. */
  size: number;
  secondaryBlobs: number;
  secondaryBytes: number;
}

/** `TRGD`, the last dword of a complete triage dump. */
export const TRIAGE_MARK = 0x44475254;
const MAXIMUM_DRIVERS = 4096;
const MAXIMUM_DATA_BLOCKS = 65_536;
const DRIVER_ENTRY_BYTES = { 64: 0x90, 32: 0x4C } as const;
const DATA_BLOCK_BYTES = { 64: 16, 32: 12 } as const;
const UNLOADED_ENTRY_BYTES = { 64: 56, 32: 40 } as const;

/** Reads the triage header that starts at `start`; fails with `hv.bad_dump` when the file ends inside it. */
export function readTriageHeader(reader: ByteReader, start: number, bits: 32 | 64): TriageHeader {
  const layout = bits === 64 ? TRIAGE64 : TRIAGE32;
  const number = (name: Exclude<keyof typeof TRIAGE64, "top_of_stack">) =>
    reader.u32(start + layout[name].offset, name);
  const top = start + layout.top_of_stack.offset;
  return {
    service_pack_build: number("service_pack_build"),
    size_of_dump: number("size_of_dump"),
    valid_offset: number("valid_offset"),
    context_offset: number("context_offset"),
    exception_offset: number("exception_offset"),
    mm_offset: number("mm_offset"),
    unloaded_drivers_offset: number("unloaded_drivers_offset"),
    prcb_offset: number("prcb_offset"),
    process_offset: number("process_offset"),
    thread_offset: number("thread_offset"),
    call_stack_offset: number("call_stack_offset"),
    size_of_call_stack: number("size_of_call_stack"),
    driver_list_offset: number("driver_list_offset"),
    driver_count: number("driver_count"),
    string_pool_offset: number("string_pool_offset"),
    string_pool_size: number("string_pool_size"),
    broken_driver_offset: number("broken_driver_offset"),
    triage_options: number("triage_options"),
    top_of_stack: bits === 64 ? reader.u64(top, "top_of_stack") : BigInt(reader.u32(top, "top_of_stack")),
    debugger_data_offset: number("debugger_data_offset"),
    debugger_data_size: number("debugger_data_size"),
    data_blocks_offset: number("data_blocks_offset"),
    data_blocks_count: number("data_blocks_count"),
  };
}

/**
 * Checks a triage dump: its end mark (`triage_marker`), that every part lies inside it (`triage_part`), and the
 * secondary data behind it (`secondary_data`). Reads a handful of small pieces, none by a size from the file.
 */
export function summarizeTriage(
  reader: ByteReader,
  start: number,
  bits: 32 | 64,
  warnings: DumpWarning[],
): TriageSummary {
  const header = readTriageHeader(reader, start, bits);
  checkMark(reader, header, warnings);
  const parts: [name: string, offset: number, size: number, cap: number][] = [
    ["call stack", header.call_stack_offset, header.size_of_call_stack, Infinity],
    [
      "driver list",
      header.driver_list_offset,
      header.driver_count * DRIVER_ENTRY_BYTES[bits],
      MAXIMUM_DRIVERS * DRIVER_ENTRY_BYTES[bits],
    ],
    ["string pool", header.string_pool_offset, header.string_pool_size, Infinity],
    ["debugger data", header.debugger_data_offset, header.debugger_data_size, Infinity],
    [
      "data block list",
      header.data_blocks_offset,
      header.data_blocks_count * DATA_BLOCK_BYTES[bits],
      MAXIMUM_DATA_BLOCKS * DATA_BLOCK_BYTES[bits],
    ],
  ];
  for (const [name, offset, size, cap] of parts) {
    if (offset === 0 || (offset + size <= header.size_of_dump && size <= cap)) continue;
    warnings.push({
      reason: "triage_part",
      message: `The ${name} claims ${size} bytes at ${hex(offset)}, the dump ends at ${
        hex(header.size_of_dump)
      }`,
      offset,
      expected: offset + size,
      actual: header.size_of_dump,
    });
  }
  const secondary = walkSecondaryData(reader, header.size_of_dump, warnings);
  return {
    header,
    drivers: header.driver_count,
    unloadedDrivers: countUnloaded(reader, header, bits, warnings),
    dataBlocks: header.data_blocks_count,
    size: header.size_of_dump,
    secondaryBlobs: secondary.blobs,
    secondaryBytes: secondary.bytes,
  };
}

function checkMark(reader: ByteReader, header: TriageHeader, warnings: DumpWarning[]): void {
  const offset = header.valid_offset;
  if (!reader.has(offset, 4)) return; // the size check says that the file is cut
  const mark = reader.u32(offset, "end mark");
  if (mark === TRIAGE_MARK && offset + 4 === header.size_of_dump) return;
  warnings.push({
    reason: "triage_marker",
    message: mark === TRIAGE_MARK
      ? `The end mark lies at ${hex(offset)}, the dump claims to end at ${hex(header.size_of_dump)}`
      : `The end mark TRGD is missing at ${hex(offset)}: the dump was not written to its end`,
    offset,
    expected: header.size_of_dump,
    actual: offset + 4,
  });
}

function countUnloaded(
  reader: ByteReader,
  header: TriageHeader,
  bits: 32 | 64,
  warnings: DumpWarning[],
): number | null {
  const offset = header.unloaded_drivers_offset;
  if (offset === 0 || !reader.has(offset, bits / 8)) return null;
  const count = bits === 64
    ? reader.u64(offset, "unloaded drivers")
    : BigInt(reader.u32(offset, "unloaded drivers"));
  const room = Math.max(0, Math.floor((header.size_of_dump - offset) / UNLOADED_ENTRY_BYTES[bits]));
  if (count <= BigInt(room)) return Number(count);
  warnings.push({
    reason: "triage_part",
    message: `The list of unloaded drivers claims ${count} entries, there is room for ${room}`,
    offset,
    actual: room,
  });
  return null;
}
