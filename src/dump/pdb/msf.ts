/** The container of symbol files: MSF 7.00, a file of streams whose blocks lie anywhere. */

import { ByteReader, type ByteSource } from "../bytes.ts";
import { badDump } from "../reasons.ts";

const MAGIC = "Microsoft C/C++ MSF 7.00\r\n\x1ADS\0\0\0";
const COLD_MAGIC = "Microsoft MSFZ Container\r\n";
const OLD_MAGIC = "Microsoft C/C++ program database 2.00";
const HEADER_BYTES = 56;
const SMALLEST_BLOCK = 512;
const LARGEST_BLOCK = 65_536;
const MAXIMUM_STREAMS = 65_536;
const DELETED = 0xFFFF_FFFF;

/** Why a file is no symbol file that can be read. */
export function unreadableSymbols(message: string): Error {
  return badDump("header_damaged", message, {}, "Fetch the symbol file again");
}

interface StreamPlace {
  readonly size: number;
  readonly blocks: Uint32Array;
}

/** An opened container. */
export class MsfFile {
  readonly #source: ByteSource;
  readonly #blockSize: number;
  readonly #streams: readonly (StreamPlace | null)[];

  private constructor(source: ByteSource, blockSize: number, streams: readonly (StreamPlace | null)[]) {
    this.#source = source;
    this.#blockSize = blockSize;
    this.#streams = streams;
  }

  /**
   * Reads the directory. Fails with `hv.bad_dump` for other forms (`unsupported_kind`) and for a directory that does
   * not fit the file (`header_damaged`, `truncated`).
   */
  static open(source: ByteSource): MsfFile {
    const reader = new ByteReader(source, { what: "symbol file" });
    const magic = String.fromCharCode(...source.read(0, 40));
    if (magic.startsWith(COLD_MAGIC) || magic.startsWith(OLD_MAGIC)) {
      const form = magic.startsWith(OLD_MAGIC)
        ? "the form before version 7"
        : "the form for cold storage (MSFZ)";
      throw badDump(
        "unsupported_kind",
        `Cannot read the symbol file: ${form} is not understood`,
        {},
        "Fetch a plain one",
      );
    }
    if (!magic.startsWith(MAGIC)) throw unreadableSymbols("Cannot read the symbol file: it is none");
    const blockSize = reader.u32(32, "BlockSize");
    const count = reader.u32(40, "NumBlocks");
    const directoryBytes = reader.u32(44, "DirectoryBytes");
    const mapBlock = reader.u32(52, "DirectoryMapBlock");
    const fits = blockSize >= SMALLEST_BLOCK && blockSize <= LARGEST_BLOCK &&
      (blockSize & (blockSize - 1)) === 0;
    if (
      !fits || HEADER_BYTES > blockSize || count > Math.ceil(source.size / blockSize) ||
      directoryBytes > source.size
    ) {
      throw unreadableSymbols("Cannot read the symbol file: its header does not fit the file");
    }
    const checked = (block: number): number => {
      if (block < count) return block;
      throw unreadableSymbols(`Cannot read the symbol file: block ${block} of ${count} is named`);
    };
    const blocks = new Uint32Array(Math.ceil(directoryBytes / blockSize));
    for (let index = 0; index < blocks.length; index++) {
      blocks[index] = checked(reader.u32(checked(mapBlock) * blockSize + index * 4, "directory map"));
    }
    const directory = new ByteReader(new StreamSource(source, blockSize, { size: directoryBytes, blocks }));
    return new MsfFile(source, blockSize, readDirectory(directory, blockSize, checked));
  }

  /** A stream's bytes; null when there is none of that number. */
  stream(index: number): ByteSource | null {
    const place = this.#streams[index] ?? null;
    return place === null ? null : new StreamSource(this.#source, this.#blockSize, place);
  }
}

function readDirectory(
  directory: ByteReader,
  blockSize: number,
  checked: (block: number) => number,
): (StreamPlace | null)[] {
  const claimed = directory.u32(0, "NumStreams");
  if (claimed > MAXIMUM_STREAMS || claimed * 4 > directory.size) {
    throw unreadableSymbols(`Cannot read the symbol file: ${claimed} streams are claimed`);
  }
  let at = 4 + claimed * 4;
  return Array.from({ length: claimed }, (_, index) => {
    const size = directory.u32(4 + index * 4, "stream size");
    if (size === DELETED) return null;
    const length = Math.ceil(size / blockSize);
    if (!directory.has(at, length * 4)) {
      throw unreadableSymbols(`Cannot read the symbol file: stream ${index} of ${size} bytes does not fit`);
    }
    const blocks = new Uint32Array(length);
    for (let block = 0; block < length; block++) {
      blocks[block] = checked(directory.u32(at + block * 4, "stream block"));
    }
    at += length * 4;
    return { size, blocks };
  });
}

/** One stream as a source of its own. */
class StreamSource implements ByteSource {
  readonly size: number;
  readonly #source: ByteSource;
  readonly #blockSize: number;
  readonly #blocks: Uint32Array;

  constructor(source: ByteSource, blockSize: number, { size, blocks }: StreamPlace) {
    this.#source = source;
    this.#blockSize = blockSize;
    this.size = size;
    this.#blocks = blocks;
  }

  read(offset: number, length: number): Uint8Array {
    const end = Math.min(this.size, offset + length);
    if (offset < 0 || offset >= end) return new Uint8Array(0);
    const bytes = new Uint8Array(end - offset);
    for (let at = offset; at < end;) {
      const inside = at % this.#blockSize;
      const first = (at - inside) / this.#blockSize;
      const start = this.#blocks[first] ?? 0;
      // Neighbours in the file are read at once.
      let blocks = 1;
      while ((first + blocks) * this.#blockSize < end && this.#blocks[first + blocks] === start + blocks) {
        blocks++;
      }
      const wanted = Math.min(end - at, blocks * this.#blockSize - inside);
      const piece = this.#source.read(start * this.#blockSize + inside, wanted);
      bytes.set(piece, at - offset);
      if (piece.length < wanted) return bytes.subarray(0, at - offset + piece.length);
      at += wanted;
    }
    return bytes;
  }
}
