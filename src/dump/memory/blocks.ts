/** Virtual memory that a dump keeps as blocks: small memory dumps and user-mode minidumps. */

import type { ByteSource } from "../bytes.ts";
import type { Absence } from "./absence.ts";
import { type Place, type Segment, VirtualMemory } from "./virtual.ts";

/** A piece of memory in a file. */
export interface MemoryBlock {
  /** Address of its first byte. */
  readonly address: bigint;
  readonly size: number;
  /** Where it lies in the file. */
  readonly offset: number;
}

/** Bytes that one segment has at most, so that reads by small steps do not read a whole block each time. */
const LARGEST_SEGMENT = 1024 * 1024;
/** Small reads are answered from an aligned piece of the file that is kept. */
const PIECE_BYTES = 4096;
const KEPT_PIECES = 512;

/**
 * Memory made of blocks, found by binary search. Blocks may be in any order; what lies beyond the end of the file is
 * dropped, and where blocks overlap the one that begins first counts (writers make no overlapping blocks with
 * different contents).
 */
export class BlockMemory extends VirtualMemory {
  readonly bits: 32 | 64;
  /** The blocks in ascending order, without overlaps. */
  readonly blocks: readonly MemoryBlock[];
  readonly #source: ByteSource;
  readonly #starts: BigUint64Array;
  readonly #pieces = new Map<number, Uint8Array>();

  constructor(source: ByteSource, bits: 32 | 64, blocks: readonly MemoryBlock[]) {
    super();
    this.bits = bits;
    this.#source = source;
    this.blocks = arrange(source.size, bits, blocks);
    this.#starts = BigUint64Array.from(this.blocks, ({ address }) => address);
  }

  /** The blocks that begin at or behind `start` and before `end`. */
  blocksFrom(start: bigint, end: bigint): MemoryBlock[] {
    const first = start === 0n ? 0 : this.#lastUpTo(start - 1n) + 1;
    return this.blocks.slice(first, end === 0n ? first : this.#lastUpTo(end - 1n) + 1);
  }

  protected override segmentAt(address: bigint, length: number): Segment {
    const index = this.#lastUpTo(address);
    const block = this.blocks[index];
    if (block !== undefined && address < block.address + BigInt(block.size)) {
      const inside = Number(address - block.address);
      const bytes = this.#bytes(
        block.offset + inside,
        Math.min(length, block.size - inside, LARGEST_SEGMENT),
      );
      if (bytes.length > 0) return { bytes };
      return { bytes: null, absence: { why: "truncated", frame: null }, length: 1 };
    }
    const next = this.blocks[index + 1];
    const gap = next === undefined ? BigInt(length) : next.address - address;
    return {
      bytes: null,
      absence: { why: "not_captured" },
      length: gap < BigInt(length) ? Number(gap) : length,
    };
  }

  override translate(address: bigint): Place | Absence {
    const normal = BigInt.asUintN(this.bits, address);
    const block = this.blocks[this.#lastUpTo(normal)];
    if (block === undefined || normal >= block.address + BigInt(block.size)) return { why: "not_captured" };
    return {
      physical: null,
      fileOffset: block.offset + Number(normal - block.address),
      through: "block",
    };
  }

  /** Index of the last block that begins at or before the address; -1 when there is none. */
  #lastUpTo(address: bigint): number {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0n) <= address) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #bytes(offset: number, length: number): Uint8Array {
    const inside = offset % PIECE_BYTES;
    if (inside + length > PIECE_BYTES) return this.#source.read(offset, length);
    const number = (offset - inside) / PIECE_BYTES;
    let piece = this.#pieces.get(number);
    if (piece === undefined) {
      piece = this.#source.read(offset - inside, PIECE_BYTES);
      if (this.#pieces.size >= KEPT_PIECES) this.#pieces.clear();
      this.#pieces.set(number, piece);
    }
    return piece.subarray(inside, inside + length);
  }
}

function arrange(size: number, bits: 32 | 64, blocks: readonly MemoryBlock[]): MemoryBlock[] {
  const sorted = blocks
    .map((block) => ({ ...block, address: BigInt.asUintN(bits, block.address) }))
    .filter(({ offset }) => offset >= 0 && offset < size)
    .sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  const arranged: MemoryBlock[] = [];
  const top = 1n << BigInt(bits);
  let end = 0n;
  for (const block of sorted) {
    const skipped = block.address < end ? Number(end - block.address) : 0;
    const room = top - block.address;
    const held = Math.min(
      block.size,
      size - block.offset,
      room < BigInt(block.size) ? Number(room) : Infinity,
    );
    if (held - skipped <= 0) continue;
    const address = block.address + BigInt(skipped);
    arranged.push({ address, size: held - skipped, offset: block.offset + skipped });
    end = block.address + BigInt(held);
  }
  return arranged;
}
