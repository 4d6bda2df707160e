/** Memory by physical address: pages of 4096 bytes that lie one after the other somewhere in a file. */

import type { ByteSource } from "../bytes.ts";
import type { Absence } from "./absence.ts";
import { isAbsence } from "./absence.ts";
import { PageCache } from "./page_cache.ts";
import type { PageIndex } from "./page_index.ts";

/** Size of a page frame on every machine that dumps come from. */
export const FRAME_BYTES = 4096;

/** Pages kept in memory: 2 MiB. */
const KEPT_PAGES = 512;

/** What a dump holds of a machine's physical memory. */
export interface PhysicalMemory {
  /** Pages that the dump lists; of a bitmap, which is counted for it, the set bits. */
  readonly pageCount: number;
  /** The 4096 bytes of a page frame (a shared view, not to be written to), or why they are not there. */
  page(frame: number): Uint8Array | Absence;
  /** Where a frame's page lies in the file; null when it is not listed there. */
  fileOffsetOf(frame: number): number | null;
  /** Exactly `length` bytes from a physical address on, or why not all of them are there. */
  read(address: bigint, length: number): Uint8Array | Absence;
}

/** The pages of a dump, found through an index. */
export class DumpPhysicalMemory implements PhysicalMemory {
  readonly #source: ByteSource;
  readonly #index: PageIndex;
  readonly #firstPage: number;
  readonly #pages = new PageCache(KEPT_PAGES);

  /** The pages that `index` lists lie at `firstPage` of the source, in the order of their positions. */
  constructor(source: ByteSource, index: PageIndex, firstPage: number) {
    this.#source = source;
    this.#index = index;
    this.#firstPage = firstPage;
  }

  get pageCount(): number {
    return this.#index.pageCount;
  }

  page(frame: number): Uint8Array | Absence {
    const kept = this.#pages.get(frame);
    if (kept !== undefined) return kept;
    const offset = this.fileOffsetOf(frame);
    if (offset === null) return { why: "not_in_dump", frame };
    if (offset > this.#source.size - FRAME_BYTES) return { why: "truncated", frame };
    const page = this.#source.read(offset, FRAME_BYTES);
    if (page.length < FRAME_BYTES) return { why: "truncated", frame };
    this.#pages.set(frame, page);
    return page;
  }

  fileOffsetOf(frame: number): number | null {
    const position = this.#index.positionOf(frame);
    return position < 0 ? null : this.#firstPage + position * FRAME_BYTES;
  }

  read(address: bigint, length: number): Uint8Array | Absence {
    let frame = Number(address >> 12n);
    let inside = Number(address & 0xFFFn);
    if (inside + length <= FRAME_BYTES) {
      const page = this.page(frame);
      return isAbsence(page) ? page : page.subarray(inside, inside + length);
    }
    const pieces: Uint8Array[] = [];
    for (let left = length; left > 0; frame++, inside = 0) {
      const page = this.page(frame);
      if (isAbsence(page)) return page;
      const piece = page.subarray(inside, inside + left);
      pieces.push(piece);
      left -= piece.length;
    }
    const joined = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
      joined.set(piece, at);
      at += piece.length;
    }
    return joined;
  }
}
