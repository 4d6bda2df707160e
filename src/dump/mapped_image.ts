/** Images where a dump has them mapped. */

import { CODE_VIEW_BYTES, parseCodeView } from "./code_view.ts";
import type { BlockMemory } from "./memory/blocks.ts";
import type { VirtualMemory } from "./memory/virtual.ts";
import type { CodeView } from "./modules.ts";
import { readCodeView } from "./pe/code_view.ts";
import { type PeHeaders, readPeHeaders } from "./pe/headers.ts";
import { MemoryImage } from "./pe/image.ts";

/** The headers at an image's base; null when they are not in the dump or are none. */
export function readMappedHeaders(memory: VirtualMemory, base: bigint): PeHeaders | null {
  return readPeHeaders(new MemoryImage(memory, base));
}

/** The CodeView record that a mapped image's debug directory names; null when it is not in the dump. */
export function readImageCodeView(memory: VirtualMemory, base: bigint): CodeView | null {
  const image = new MemoryImage(memory, base);
  const headers = readPeHeaders(image);
  return headers === null ? null : readCodeView(image, headers);
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
