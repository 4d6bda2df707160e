/** How large a minidump claims to be: the highest end of everything that it lists. */

import type { ByteReader } from "../bytes.ts";
import type { DumpWarning } from "../reasons.ts";
import type { MinidumpDirectory } from "./directory.ts";
import { STREAM } from "./layout.ts";

/** Ranges beyond this many are not looked at, so that a hostile list costs no time. */
const MAXIMUM_RANGES = 4096;

/** Highest file offset that directory and memory lists claim. Warns (`stream_damaged`) of lists that are cut. */
export function claimedEnd(
  reader: ByteReader,
  directory: MinidumpDirectory,
  warnings: DumpWarning[],
): bigint {
  const end = BigInt(directory.end);
  return [end, memory64End(reader, directory, warnings), memoryEnd(reader, directory, warnings)]
    .reduce((highest, each) => (each > highest ? each : highest));
}

function memory64End(reader: ByteReader, directory: MinidumpDirectory, warnings: DumpWarning[]): bigint {
  const stream = directory.streams.get(STREAM.memory64List);
  if (stream === undefined || !reader.has(stream.offset, 16)) return 0n;
  const claimed = reader.u64(stream.offset, "NumberOfMemoryRanges");
  const count = clamp(
    claimed,
    (stream.size - 16) / 16,
    (reader.size - stream.offset - 16) / 16,
    stream.offset,
    warnings,
  );
  let end = reader.u64(stream.offset + 8, "BaseRva");
  for (let index = 0; index < count; index++) {
    end += reader.u64(stream.offset + 16 + index * 16 + 8, "DataSize");
  }
  return end;
}

function memoryEnd(reader: ByteReader, directory: MinidumpDirectory, warnings: DumpWarning[]): bigint {
  const stream = directory.streams.get(STREAM.memoryList);
  if (stream === undefined || !reader.has(stream.offset, 4)) return 0n;
  const claimed = reader.u32(stream.offset, "NumberOfMemoryRanges");
  // Some writers align the first element to 8 bytes.
  const first = stream.offset + (stream.size === 8 + claimed * 16 ? 8 : 4);
  const inStream = (stream.size - (first - stream.offset)) / 16;
  const count = clamp(BigInt(claimed), inStream, (reader.size - first) / 16, stream.offset, warnings);
  let end = 0;
  for (let index = 0; index < count; index++) {
    const entry = first + index * 16;
    end = Math.max(end, reader.u32(entry + 8, "DataSize") + reader.u32(entry + 12, "Rva"));
  }
  return BigInt(end);
}

function clamp(
  claimed: bigint,
  inStream: number,
  inFile: number,
  offset: number,
  warnings: DumpWarning[],
): number {
  const room = Math.max(0, Math.floor(Math.min(inStream, inFile)));
  if (claimed > BigInt(room)) {
    warnings.push({
      reason: "stream_damaged",
      message: `A memory list claims ${claimed} ranges, there is room for ${room}`,
      offset,
      actual: room,
    });
  }
  const count = claimed < BigInt(room) ? Number(claimed) : room;
  return Math.min(count, MAXIMUM_RANGES);
}
