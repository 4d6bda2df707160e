/** Takes the one file out of a cabinet: symbol stores may keep their files packed. */

import { ByteReader, type ByteSource, MemorySource } from "../../dump/bytes.ts";
import { badDump } from "../../dump/reasons.ts";
import type { InflateBlock } from "../../host/inflate.ts";
import { LzxDecoder } from "./lzx.ts";

const MAGIC = 0x4643534D;
const HEADER = {
  firstFile: 0x10,
  folders: 0x1A,
  files: 0x1C,
  flags: 0x1E,
  end: 0x24,
} as const;
const RESERVE_FLAG = 4;
const CONTINUED_FLAGS = 3;
const NONE = 0;
const MSZIP = 1;
const LZX = 3;
const BLOCK_MARK = 0x4B43;
const LARGEST_BLOCK = 32_768;
const DICTIONARY_BYTES = 32_768;
/** The largest symbol files of Windows are near 100 MiB. */
const LARGEST_FILE = 512 * 1024 * 1024;

/** What one block holds, given its size; fails with an error that tells what is wrong with it. */
type Unpack = (block: Uint8Array, size: number) => Uint8Array;

/**
 * Unpacks the first file. Fails with `hv.bad_dump`: `unsupported_kind` for other compression than MSZIP and LZX and for
 * cabinets that go on in another file, `header_damaged` or `truncated` for damage.
 */
export function unpackCabinet(source: ByteSource, inflate: InflateBlock): ByteSource {
  const reader = new ByteReader(source, { what: "cabinet" });
  if (reader.u32(0, "signature") !== MAGIC) throw damaged("it is none");
  const flags = reader.u16(HEADER.flags, "flags");
  if ((flags & CONTINUED_FLAGS) !== 0) throw unsupported("it goes on in another file");
  let at: number = HEADER.end;
  let blockReserve = 0;
  if ((flags & RESERVE_FLAG) !== 0) {
    blockReserve = reader.u8(at + 3, "block reserve");
    at += 4 + reader.u16(at, "header reserve");
  }
  if (reader.u16(HEADER.folders, "folders") === 0 || reader.u16(HEADER.files, "files") === 0) {
    throw damaged("it holds no file");
  }
  const blocks = reader.u32(at, "first block");
  const count = reader.u16(at + 4, "blocks");
  const unpack = unpackerFor(reader.u16(at + 6, "compression"), inflate);
  const file = reader.u32(HEADER.firstFile, "first file");
  const size = reader.u32(file, "file size");
  const skip = reader.u32(file + 4, "file offset");
  if (reader.u16(file + 8, "folder") !== 0 || size > LARGEST_FILE || skip > LARGEST_FILE) {
    throw damaged("its file does not fit");
  }
  const unpacked = unpackBlocks(reader, blocks, count, blockReserve, unpack, skip + size);
  if (unpacked.length < skip + size) throw damaged(`its file has ${unpacked.length} of ${skip + size} bytes`);
  return new MemorySource(unpacked.subarray(skip, skip + size));
}

function unpackerFor(compression: number, inflate: InflateBlock): Unpack {
  const kind = compression & 0xF;
  if (kind === NONE) return (block) => block.slice();
  if (kind === MSZIP) return msZip(inflate);
  if (kind !== LZX) throw unsupported(`compression ${kind} is not understood`);
  try {
    const decoder = new LzxDecoder((compression >> 8) & 0x1F);
    return (block, size) => decoder.decode(block, size);
  } catch (thrown) {
    throw damaged(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function unpackBlocks(
  reader: ByteReader,
  start: number,
  count: number,
  reserve: number,
  unpack: Unpack,
  wanted: number,
): Uint8Array {
  const pieces: Uint8Array[] = [];
  let total = 0;
  for (let block = 0, at = start; block < count && total < wanted; block++) {
    const packed = reader.u16(at + 4, "block size");
    const plain = reader.u16(at + 6, "block size");
    const piece = unpackBlock(unpack, reader.bytes(at + 8 + reserve, packed, "block"), plain);
    if (piece.length !== plain || piece.length === 0) {
      throw damaged(`block ${block} has ${piece.length} of ${plain} bytes`);
    }
    pieces.push(piece);
    total += piece.length;
    at += 8 + reserve + packed;
  }
  const joined = new Uint8Array(total);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

function unpackBlock(unpack: Unpack, block: Uint8Array, size: number): Uint8Array {
  try {
    return unpack(block, size);
  } catch (thrown) {
    throw damaged(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** Blocks of deflate, each with what the blocks before it gave as its dictionary. */
function msZip(inflate: InflateBlock): Unpack {
  let dictionary: Uint8Array = new Uint8Array(0);
  return (block) => {
    if (block.length < 2 || ((block[0] ?? 0) | ((block[1] ?? 0) << 8)) !== BLOCK_MARK) {
      throw new RangeError("a block has no mark");
    }
    const piece = inflate(block.subarray(2), dictionary, LARGEST_BLOCK);
    dictionary = piece.length >= DICTIONARY_BYTES
      ? piece.subarray(-DICTIONARY_BYTES)
      : lastBytes(dictionary, piece);
    return piece;
  };
}

function lastBytes(before: Uint8Array, piece: Uint8Array): Uint8Array {
  const joined = new Uint8Array(before.length + piece.length);
  joined.set(before);
  joined.set(piece, before.length);
  return joined.subarray(-DICTIONARY_BYTES);
}

function damaged(what: string): Error {
  return badDump("header_damaged", `Cannot unpack the cabinet: ${what}`, {}, "Fetch the file again");
}

function unsupported(what: string): Error {
  return badDump(
    "unsupported_kind",
    `Cannot unpack the cabinet: ${what}`,
    {},
    "Unpack it with `expand` or `cabextract`",
  );
}
