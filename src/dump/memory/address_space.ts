/** Virtual memory over page tables and physical pages. */

import { type Absence, isAbsence } from "./absence.ts";
import { type FramePlace, openPageTables, type PageTableOptions, type PageTables } from "./page_tables.ts";
import { FRAME_BYTES, type PhysicalMemory } from "./physical.ts";
import { type Place, type Segment, VirtualMemory } from "./virtual.ts";

/** Translations kept; all are dropped when there are more. */
const KEPT_TRANSLATIONS = 8192;

/** Tables that are open already, and the memory that they lead to. */
interface OpenTables {
  readonly physical: PhysicalMemory;
  readonly tables: PageTables;
}

/** The memory that one page table register shows. */
export class AddressSpace extends VirtualMemory {
  readonly bits: 32 | 64;
  readonly #physical: PhysicalMemory;
  readonly #tables: PageTables;
  readonly #known = new Map<number, FramePlace | Absence>();

  constructor(options: PageTableOptions | OpenTables) {
    super();
    this.#physical = options.physical;
    this.#tables = "tables" in options ? options.tables : openPageTables(options);
    this.bits = this.#tables.bits;
  }

  protected override segmentAt(address: bigint, length: number): Segment {
    const inside = Number(address & 0xFFFn);
    const place = this.#find(address);
    const page = isAbsence(place) ? place : this.#physical.page(place.frame);
    if (!isAbsence(page)) return { bytes: page.subarray(inside, inside + length) };
    return { bytes: null, absence: page, length: Math.min(length, FRAME_BYTES - inside) };
  }

  override translate(address: bigint): Place | Absence {
    const normal = BigInt.asUintN(this.bits, address);
    const place = this.#find(normal);
    if (isAbsence(place)) return place;
    const inside = Number(normal & 0xFFFn);
    const offset = this.#physical.fileOffsetOf(place.frame);
    return {
      physical: BigInt(place.frame) * BigInt(FRAME_BYTES) + BigInt(inside),
      fileOffset: offset === null ? null : offset + inside,
      through: place.through,
    };
  }

  #find(address: bigint): FramePlace | Absence {
    const page = Number(address >> 12n);
    const known = this.#known.get(page);
    if (known !== undefined) return known;
    const found = this.#tables.find(page);
    if (this.#known.size >= KEPT_TRANSLATIONS) this.#known.clear();
    this.#known.set(page, found);
    return found;
  }
}
