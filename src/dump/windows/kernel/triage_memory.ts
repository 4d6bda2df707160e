/** The pieces of memory that a small memory dump carries, by the addresses they had. */

import type { ByteReader, ByteSource } from "../../bytes.ts";
import { BlockMemory, type MemoryBlock } from "../../memory/blocks.ts";
import { hex } from "../../numbers.ts";
import type { DumpWarning } from "../../reasons.ts";
import { readDebuggerData } from "./debugger_data.ts";
import type { KernelHeader } from "../header.ts";
import type { TriageHeader } from "../triage.ts";
import { buildNumber } from "../versions.ts";

/** Bits of MiniDumpFields: a part without its bit is not in the dump, whatever its offset says. */
export const TRIAGE_PART = {
  context: 0x001,
  exception: 0x002,
  prcb: 0x004,
  process: 0x008,
  thread: 0x010,
  stack: 0x020,
  drivers: 0x040,
  debuggerData: 0x400,
  dataBlocks: 0x800,
} as const;

/** Whether a part is in the dump; a field that was never written hides nothing. */
export function hasTriagePart(header: KernelHeader, part: number): boolean {
  return header.miniDumpFields === null || (header.miniDumpFields & part) !== 0;
}

const BLOCK_ENTRY_BYTES = { 64: 16, 32: 12 } as const;
const MAXIMUM_BLOCKS = 65_536;
/** Build of Windows 7. */
const FIRST_WIDE_NUMBER = 7600;

/**
 * The memory of a small dump: data blocks, the call stack, the debugger data, and the copies of thread, process and
 * processor block at the addresses that they name one after the other. Warns (`list_count`) of a list of blocks that
 * the file cannot hold; pieces beyond the end of the file are dropped.
 */
export function openTriageMemory(
  source: ByteSource,
  reader: ByteReader,
  header: KernelHeader,
  triage: TriageHeader,
  warnings: DumpWarning[],
): BlockMemory {
  const blocks: MemoryBlock[] = [];
  if (hasTriagePart(header, TRIAGE_PART.dataBlocks)) {
    blocks.push(...readDataBlocks(reader, triage, header.bits, warnings));
  }
  if (hasTriagePart(header, TRIAGE_PART.stack) && triage.call_stack_offset !== 0) {
    blocks.push({
      address: triage.top_of_stack,
      size: triage.size_of_call_stack,
      offset: triage.call_stack_offset,
    });
  }
  const debuggerData = header.kdDebuggerDataBlock;
  if (hasTriagePart(header, TRIAGE_PART.debuggerData) && triage.debugger_data_offset !== 0 && debuggerData) {
    blocks.push({
      address: debuggerData,
      size: triage.debugger_data_size,
      offset: triage.debugger_data_offset,
    });
  }
  const captured = new BlockMemory(source, header.bits, blocks);
  const copies = debuggerData === null ? [] : placeCopies(reader, header, triage, captured, debuggerData);
  return copies.length === 0 ? captured : new BlockMemory(source, header.bits, [...blocks, ...copies]);
}

/** Thread, process and processor block lie at offsets of the file; where they were follows from their contents. */
function placeCopies(
  reader: ByteReader,
  header: KernelHeader,
  triage: TriageHeader,
  captured: BlockMemory,
  debuggerData: bigint,
): MemoryBlock[] {
  const result = readDebuggerData(captured, debuggerData);
  if (result.found !== "plain") return [];
  const { data } = result;
  const pointerIn = (part: number, offset: number, member: number | null): bigint | null => {
    if (!hasTriagePart(header, part) || offset === 0 || member === null) return null;
    if (!reader.has(offset + member, header.bits / 8)) return null;
    const value = header.bits === 64
      ? reader.u64(offset + member, "pointer")
      : BigInt(reader.u32(offset + member, "pointer"));
    return value === 0n ? null : value;
  };
  const place = (part: number, address: bigint | null, size: number | null, offset: number): MemoryBlock[] =>
    address === null || size === null || offset === 0 || !hasTriagePart(header, part)
      ? []
      : [{ address, size, offset }];
  const thread = pointerIn(TRIAGE_PART.prcb, triage.prcb_offset, data.offset("prcb_current_thread"));
  const process = pointerIn(TRIAGE_PART.thread, triage.thread_offset, data.offset("thread_process"));
  const number = triageProcessorNumber(reader, header, triage, data.offset("prcb_number"));
  const list = data.variable("processor_block");
  const prcb = number === null || list === null
    ? null
    : captured.pointer(list + BigInt(number * header.bits / 8)) || null;
  return [
    ...place(TRIAGE_PART.thread, thread, data.offset("thread_size"), triage.thread_offset),
    ...place(TRIAGE_PART.process, process, data.offset("process_size"), triage.process_offset),
    ...place(TRIAGE_PART.prcb, prcb, data.offset("prcb_size"), triage.prcb_offset),
  ];
}

/** Number of the processor whose block was copied: the one that crashed. Null when the dump does not tell. */
export function triageProcessorNumber(
  reader: ByteReader,
  header: KernelHeader,
  triage: TriageHeader,
  member: number | null,
): number | null {
  if (!hasTriagePart(header, TRIAGE_PART.prcb) || triage.prcb_offset === 0 || member === null) return null;
  const offset = triage.prcb_offset + member;
  if (!reader.has(offset, 4)) return null;
  // A dword since Windows 7 and a byte before; 32-bit machines never had more processors than a byte counts.
  const wide = header.bits === 64 && (buildNumber(header.minorVersion) ?? 0) >= FIRST_WIDE_NUMBER;
  const number = wide ? reader.u32(offset, "Number") : reader.u8(offset, "Number");
  return number < (header.numberProcessors ?? 0) ? number : null;
}

function readDataBlocks(
  reader: ByteReader,
  triage: TriageHeader,
  bits: 32 | 64,
  warnings: DumpWarning[],
): MemoryBlock[] {
  const list = triage.data_blocks_offset;
  const claimed = triage.data_blocks_count;
  if (list === 0 || claimed === 0) return [];
  const width = BLOCK_ENTRY_BYTES[bits];
  const room = Math.min(MAXIMUM_BLOCKS, Math.max(0, Math.floor((reader.size - list) / width)));
  if (claimed > room) {
    warnings.push({
      reason: "list_count",
      message: `The data block list at ${hex(list)} claims ${claimed} blocks, there is room for ${room}`,
      offset: list,
      expected: claimed,
      actual: room,
    });
  }
  const blocks: MemoryBlock[] = [];
  for (let index = 0; index < Math.min(claimed, room); index++) {
    const entry = list + index * width;
    const rest = entry + width - 8;
    blocks.push({
      address: bits === 64 ? reader.u64(entry, "address") : BigInt(reader.u32(entry, "address")),
      offset: reader.u32(rest, "offset"),
      size: reader.u32(rest + 4, "size"),
    });
  }
  return blocks;
}
