/** Page tables of ARM64 with pages of 4, 16 or 64 KiB and addresses of up to 52 bits: those of its upper half (TTBR1). */

import { type Absence, isAbsence } from "./absence.ts";
import type { FramePlace, PageTables } from "./page_tables.ts";
import type { PhysicalMemory } from "./physical.ts";

/** How addresses are cut up. */
export interface ArmGeometry {
  /** 12, 14 or 16: the size of a page as a power of two. */
  readonly pageShift: number;
  /** Bits of an address for which the tables were laid out; the root is indexed by as many of them as it has. */
  readonly builtBits: number;
  /** Bits of an address that the processor takes. */
  readonly addressBits: number;
}

const FRAME_SHIFT = 12;
const ENTRY_BYTES = 8;
/** Page numbers are those of 4 KiB pages. */
const PAGE_NUMBER_BITS = 52;
const WIDEST = 52;
const VALID = 1n;
const TABLE = 2n;
/** Larger blocks than of 512 GiB are no memory that a kernel maps. */
const LARGEST_BLOCK_SHIFT = 39;
const ADDRESS_MASK = 0xFFFF_FFFF_F000n;
/** Address bits above 47: in bits 8 and 9 with small pages and wide addresses, in bits 12 to 15 with pages of 64 KiB. */
const WIDE_ADDRESS = {
  small: { mask: 3n, from: 8n, to: 50n },
  large: { mask: 0xFn, from: 12n, to: 48n },
} as const;
const LARGE_PAGE_SHIFT = 16;

/** Tables that begin at a physical address. */
export class GranuleTables implements PageTables {
  readonly bits = 64;
  readonly #physical: PhysicalMemory;
  readonly #root: bigint;
  readonly #geometry: ArmGeometry;
  /** Bits of an address that one table resolves. */
  readonly #stride: number;
  readonly #levels: number;

  constructor(physical: PhysicalMemory, root: bigint, geometry: ArmGeometry) {
    this.#physical = physical;
    this.#root = root;
    this.#geometry = geometry;
    this.#stride = geometry.pageShift - 3;
    this.#levels = Math.ceil((geometry.addressBits - geometry.pageShift) / this.#stride);
  }

  find(page: number): FramePlace | Absence {
    const { pageShift, addressBits } = this.#geometry;
    if (!isUpperHalf(page, addressBits - FRAME_SHIFT)) return { why: "not_canonical" };
    let table = this.#root;
    for (let level = this.#levels; level >= 1; level--) {
      const shift = pageShift + (level - 1) * this.#stride;
      const entry = this.#entry(table, indexOf(page, shift, this.#indexBits(level, shift)));
      if (typeof entry !== "bigint") return entry;
      if ((entry & VALID) === 0n) return { why: "not_mapped", level };
      const address = this.#addressIn(entry);
      const descends = (entry & TABLE) !== 0n; // a table above the last level, a page in it
      if (level === 1) {
        return descends ? placeIn(address, page, shift, "page") : { why: "unknown_entry", level };
      }
      if (!descends) {
        return shift <= LARGEST_BLOCK_SHIFT
          ? placeIn(address, page, shift, "large_page")
          : { why: "unknown_entry", level };
      }
      table = address;
    }
    return { why: "unknown_entry", level: 1 };
  }

  /** The root has as many entries as the layout has bits above the others, and no more than a table holds. */
  #indexBits(level: number, shift: number): number {
    return level === this.#levels ? Math.min(this.#stride, this.#geometry.builtBits - shift) : this.#stride;
  }

  #entry(table: bigint, index: number): bigint | Absence {
    const bytes = this.#physical.read(table + BigInt(index * ENTRY_BYTES), ENTRY_BYTES);
    if (isAbsence(bytes)) return bytes;
    return new DataView(bytes.buffer, bytes.byteOffset, ENTRY_BYTES).getBigUint64(0, true);
  }

  #addressIn(entry: bigint): bigint {
    const { pageShift, addressBits } = this.#geometry;
    const inside = BigInt((1 << pageShift) - 1);
    const low = entry & ADDRESS_MASK & ~inside;
    if (pageShift < LARGE_PAGE_SHIFT && addressBits < WIDEST) return low;
    const { mask, from, to } = pageShift < LARGE_PAGE_SHIFT ? WIDE_ADDRESS.small : WIDE_ADDRESS.large;
    return low | ((entry >> from & mask) << to);
  }
}

function placeIn(address: bigint, page: number, shift: number, through: FramePlace["through"]): FramePlace {
  const pages = 2 ** (shift - FRAME_SHIFT);
  const frame = Number(address >> 12n);
  return { frame: frame - frame % pages + page % pages, through };
}

function indexOf(page: number, shift: number, bits: number): number {
  return Math.floor(page / 2 ** (shift - FRAME_SHIFT)) % 2 ** bits;
}

/** Whether all bits of a page number from `bits` on are set. */
function isUpperHalf(page: number, bits: number): boolean {
  return Math.floor(page / 2 ** bits) === 2 ** (PAGE_NUMBER_BITS - bits) - 1;
}
