/** The memory that a minidump holds. */

import type { ByteReader } from "../bytes.ts";
import type { MemoryBlock } from "../memory/blocks.ts";
import type { DumpWarning } from "../reasons.ts";
import type { StreamRange } from "./directory.ts";
import { MEMORY_RANGE, MEMORY_RANGE_BYTES } from "./layout.ts";
import { boundedList, countedList } from "./lists.ts";

/** A process of 128 TiB in single pages would have more; none that was dumped does. */
const MAXIMUM_RANGES = 1024 * 1024;

/** Ranges of the MemoryList stream, cut to what is there. */
export function readMemoryList(
  reader: ByteReader,
  range: StreamRange,
  warnings: DumpWarning[],
): MemoryBlock[] {
  const list = countedList(reader, range, "memory list", MEMORY_RANGE_BYTES, MAXIMUM_RANGES, warnings);
  return Array.from({ length: list.count }, (_, index) => {
    const entry = list.first + index * MEMORY_RANGE_BYTES;
    return {
      address: reader.u64(entry + MEMORY_RANGE.start.offset, "StartOfMemoryRange"),
      size: reader.u32(entry + MEMORY_RANGE.size.offset, "DataSize"),
      offset: reader.u32(entry + MEMORY_RANGE.rva.offset, "Rva"),
    };
  });
}

const HEAD_BYTES = 16;

/**
 * Ranges of the Memory64List stream, whose bytes follow each other from one position on, cut to what is there. The
 * only ranges that may lie beyond 4 GiB of the file.
 */
export function readMemory64List(
  reader: ByteReader,
  range: StreamRange,
  warnings: DumpWarning[],
): MemoryBlock[] {
  const claimed = reader.u64(range.offset, "NumberOfMemoryRanges");
  const count = claimed < BigInt(Number.MAX_SAFE_INTEGER) ? Number(claimed) : Number.MAX_SAFE_INTEGER;
  const list = boundedList(
    reader,
    { first: range.offset + HEAD_BYTES, count },
    range.offset + range.size,
    "64-bit memory list",
    MEMORY_RANGE_BYTES,
    MAXIMUM_RANGES,
    warnings,
  );
  const size = BigInt(reader.size);
  const blocks: MemoryBlock[] = [];
  let position = reader.u64(range.offset + 8, "BaseRva");
  for (let index = 0; index < list.count && position < size; index++) {
    const entry = list.first + index * MEMORY_RANGE_BYTES;
    const length = reader.u64(entry + 8, "DataSize");
    const held = length < size - position ? length : size - position;
    blocks.push({
      address: reader.u64(entry, "StartOfMemoryRange"),
      size: Number(held),
      offset: Number(position),
    });
    position += length;
  }
  return blocks;
}
