/** What the headers of an image say, read where the image is mapped. Only what identifies it; see `pe/` for the rest. */

import { CODE_VIEW_BYTES, parseCodeView } from "./code_view.ts";
import type { BlockMemory } from "./memory/blocks.ts";
import type { VirtualMemory } from "./memory/virtual.ts";
import type { CodeView } from "./modules.ts";

/** Identity of a mapped image. */
export interface ImageIdentity {
  readonly timeDateStamp: number;
  readonly sizeOfImage: number;
  readonly checkSum: number;
  /** Where the debug directory lies, from the image's base; null without one. */
  readonly debugDirectory: { readonly rva: number; readonly size: number } | null;
}

const DOS_MAGIC = 0x5A4D;
const PE_MAGIC = 0x4550;
const PE32 = 0x10B;
const PE32_PLUS = 0x20B;
/** The header page, in which every linker puts all that is read here. */
const HEADER_BYTES = 0x1000;
const OPTIONAL_HEADER = 24;
const DEBUG_DIRECTORY = 6;
const DEBUG_ENTRY_BYTES = 28;
const DEBUG_TYPE_CODE_VIEW = 2;
const MAXIMUM_DEBUG_ENTRIES = 32;

/** Reads the headers at an image's base; null when they are not in the dump or are none. */
export function readImageIdentity(memory: VirtualMemory, base: bigint): ImageIdentity | null {
  const { bytes } = memory.readUpTo(base, HEADER_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 0x40 || view.getUint16(0, true) !== DOS_MAGIC) return null;
  const pe = view.getUint32(0x3C, true);
  if (pe > bytes.length - OPTIONAL_HEADER - 0x78 || view.getUint32(pe, true) !== PE_MAGIC) return null;
  const optional = pe + OPTIONAL_HEADER;
  const magic = view.getUint16(optional, true);
  if (magic !== PE32 && magic !== PE32_PLUS) return null;
  const directories = optional + (magic === PE32 ? 0x60 : 0x70);
  const debug = directories + DEBUG_DIRECTORY * 8;
  const hasDebug = view.getUint32(directories - 4, true) > DEBUG_DIRECTORY && debug + 8 <= bytes.length;
  const rva = hasDebug ? view.getUint32(debug, true) : 0;
  return {
    timeDateStamp: view.getUint32(pe + 8, true),
    sizeOfImage: view.getUint32(optional + 0x38, true),
    checkSum: view.getUint32(optional + 0x40, true),
    debugDirectory: rva === 0 ? null : { rva, size: view.getUint32(debug + 4, true) },
  };
}

/** The CodeView record that a mapped image's debug directory names; null when any of it is not in the dump. */
export function readImageCodeView(memory: VirtualMemory, base: bigint): CodeView | null {
  const directory = readImageIdentity(memory, base)?.debugDirectory ?? null;
  if (directory === null) return null;
  const count = Math.min(MAXIMUM_DEBUG_ENTRIES, Math.floor(directory.size / DEBUG_ENTRY_BYTES));
  for (let index = 0; index < count; index++) {
    const entry = base + BigInt(directory.rva + index * DEBUG_ENTRY_BYTES);
    if (memory.u32(entry + 12n) !== DEBUG_TYPE_CODE_VIEW) continue;
    const size = memory.u32(entry + 16n);
    const rva = memory.u32(entry + 20n);
    if (size === undefined || rva === undefined || rva === 0) continue;
    const { bytes } = memory.readUpTo(base + BigInt(rva), Math.min(size, CODE_VIEW_BYTES));
    const found = parseCodeView(bytes);
    if (found !== null) return found;
  }
  return null;
}

/** Bytes of one block that are searched; records were captured in blocks of a few hundred. */
const SEARCHED_BYTES = 64 * 1024;

/**
 * Searches the captured pieces of an image for its CodeView record: small dumps keep the one of the faulting module
 * without the headers that point to it. Null when there is none, or several that differ.
 */
export function findCapturedCodeView(memory: BlockMemory, base: bigint, size: number): CodeView | null {
  const found = new Map<string, CodeView>();
  for (const block of memory.blocksFrom(base, base + BigInt(size))) {
    const { bytes } = memory.readUpTo(block.address, Math.min(block.size, SEARCHED_BYTES));
    for (let at = bytes.indexOf(0x52); at >= 0; at = bytes.indexOf(0x52, at + 1)) {
      if (bytes[at + 1] !== 0x53 || bytes[at + 2] !== 0x44 || bytes[at + 3] !== 0x53) continue;
      const record = parseCodeView(bytes.subarray(at, at + CODE_VIEW_BYTES));
      if (record !== null && record.name !== null) found.set(`${record.id}${record.age}`, record);
    }
  }
  const [only] = found.values();
  return found.size === 1 && only !== undefined ? only : null;
}
