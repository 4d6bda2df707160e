/** Header and stream directory of a minidump. */

import type { ByteReader } from "../bytes.ts";
import { hex } from "../numbers.ts";
import { badDump, type DumpWarning } from "../reasons.ts";
import { DIRECTORY_ENTRY, DIRECTORY_ENTRY_BYTES, HEADER_BYTES, MINIDUMP_HEADER } from "./layout.ts";

/** Where the data of a stream lies. */
export interface StreamRange {
  offset: number;
  size: number;
}

/** Header fields and the first stream of each type. */
export interface MinidumpDirectory {
  /** Unix time of writing; 0 when unknown. */
  timeDateStamp: number;
  flags: bigint;
  /** Entries of the directory, unused ones included. */
  streamCount: number;
  streams: ReadonlyMap<number, StreamRange>;
  /** Highest file offset that a stream claims. */
  end: number;
}

/** More streams than any writer makes; breakpad refuses at the same number. */
const MAXIMUM_STREAMS = 128;
const UNUSED_STREAM = 0;

/**
 * Reads header and directory. Fails with `hv.bad_dump`: `stream_count` (more than 128), `stream_directory` (inside
 * the header), `truncated` (beyond the end). Warns of repeated streams (the first one counts) and of streams that
 * lie beyond the end.
 */
export function readMinidumpDirectory(reader: ByteReader, warnings: DumpWarning[]): MinidumpDirectory {
  const streamCount = reader.u32(MINIDUMP_HEADER.number_of_streams.offset, "NumberOfStreams");
  const directory = reader.u32(MINIDUMP_HEADER.stream_directory_rva.offset, "StreamDirectoryRva");
  if (streamCount > MAXIMUM_STREAMS) {
    throw badDump(
      "stream_count",
      `Cannot read the minidump: it claims ${streamCount} streams, at most ${MAXIMUM_STREAMS} are possible`,
      { offset: MINIDUMP_HEADER.number_of_streams.offset, expected: MAXIMUM_STREAMS, found: streamCount },
    );
  }
  if (directory < HEADER_BYTES && streamCount > 0) {
    throw badDump(
      "stream_directory",
      `Cannot read the minidump: its stream directory lies at ${hex(directory)}, inside the header`,
      { offset: MINIDUMP_HEADER.stream_directory_rva.offset, expected: HEADER_BYTES, found: directory },
    );
  }
  const streams = new Map<number, StreamRange>();
  let end = HEADER_BYTES;
  for (let index = 0; index < streamCount; index++) {
    const entry = directory + index * DIRECTORY_ENTRY_BYTES;
    const type = reader.u32(entry + DIRECTORY_ENTRY.stream_type.offset, "StreamType");
    const size = reader.u32(entry + DIRECTORY_ENTRY.data_size.offset, "DataSize");
    const offset = reader.u32(entry + DIRECTORY_ENTRY.rva.offset, "Rva");
    if (type === UNUSED_STREAM) continue;
    end = Math.max(end, offset + size);
    if (!reader.has(offset, size)) {
      warnings.push({
        reason: "truncated",
        message: `Stream ${type} claims ${size} bytes at ${hex(offset)}, the file has ${reader.size}`,
        offset: entry,
        expected: offset + size,
        actual: reader.size,
      });
    }
    if (streams.has(type)) {
      warnings.push({
        reason: "stream_repeated",
        message: `Stream ${type} appears again; the first one counts`,
        offset: entry,
      });
    } else {
      streams.set(type, { offset, size });
    }
  }
  return {
    timeDateStamp: reader.u32(MINIDUMP_HEADER.time_date_stamp.offset, "TimeDateStamp"),
    flags: reader.u64(MINIDUMP_HEADER.flags.offset, "Flags"),
    streamCount,
    streams,
    end: Math.max(end, directory + streamCount * DIRECTORY_ENTRY_BYTES),
  };
}

/** Text with a 32-bit byte length in front, as minidumps store names; null at position 0 and when it is empty. */
export function readMinidumpString(reader: ByteReader, offset: number, field: string): string | null {
  if (offset === 0) return null;
  const text = reader.utf16(offset + 4, reader.u32(offset, field), field);
  return text === "" ? null : text;
}
