/** Physical memory out of the packed pages of a kdump. */

import type { ByteSource } from "../../bytes.ts";
import type { Absence } from "../../memory/absence.ts";
import { PageCache } from "../../memory/page_cache.ts";
import { FRAME_BYTES, type PhysicalMemory } from "../../memory/physical.ts";
import type { DumpWarning } from "../../reasons.ts";
import type { MemoryPiece } from "./core.ts";
import type { PageCodec } from "./page_codecs.ts";
import type { PageRanks } from "./page_ranks.ts";
import { readAcrossFrames } from "./pages.ts";

const DESCRIPTOR_BYTES = 24;
const KEPT_PAGES = 4096;
/** Pages that a search passes by although the bitmap lists them. */
const MOST_MISSES = 2 ** 16;
/** Damaged pages that are remembered. */
const MOST_DAMAGED = 2 ** 16;

/** Pages by their descriptors. What is damaged is told once for each kind of damage. */
export class KdumpMemory implements PhysicalMemory {
  readonly #source: ByteSource;
  readonly #ranks: PageRanks;
  readonly #descriptors: number;
  readonly #codecs: ReadonlyMap<number, PageCodec>;
  readonly #warnings: DumpWarning[];
  readonly #pages = new PageCache(KEPT_PAGES);
  readonly #told = new Set<string>();
  /** Unpacking fails slowly, and page tables are asked for again and again. */
  readonly #damaged = new Set<number>();

  constructor(
    source: ByteSource,
    ranks: PageRanks,
    descriptors: number,
    codecs: ReadonlyMap<number, PageCodec>,
    warnings: DumpWarning[],
  ) {
    this.#source = source;
    this.#ranks = ranks;
    this.#descriptors = descriptors;
    this.#codecs = codecs;
    this.#warnings = warnings;
  }

  get pageCount(): number {
    return this.#ranks.count;
  }

  /** Every page that can be read, the highest first; ends after too many that cannot. */
  *pieces(): Iterable<MemoryPiece> {
    let misses = 0;
    for (const frame of this.#ranks.descending()) {
      const bytes = this.page(frame);
      if (!("why" in bytes)) yield { address: frame * FRAME_BYTES, bytes };
      else if (++misses > MOST_MISSES) return;
    }
  }

  page(frame: number): Uint8Array | Absence {
    const kept = this.#pages.get(frame);
    if (kept !== undefined) return kept;
    if (this.#damaged.has(frame)) return { why: "truncated", frame };
    const descriptor = this.#descriptor(frame);
    if (descriptor === null) return { why: this.#ranks.has(frame) ? "truncated" : "not_in_dump", frame };
    const page = this.#unpack(descriptor);
    if (page === null) {
      if (this.#damaged.size < MOST_DAMAGED) this.#damaged.add(frame);
      return { why: "truncated", frame };
    }
    this.#pages.set(frame, page);
    return page;
  }

  fileOffsetOf(frame: number): number | null {
    return this.#descriptor(frame)?.offset ?? null;
  }

  read(address: bigint, length: number): Uint8Array | Absence {
    return readAcrossFrames(this, address, length);
  }

  #descriptor(frame: number): { offset: number; size: number; flags: number } | null {
    const rank = this.#ranks.rankOf(frame);
    if (rank < 0) return null;
    const bytes = this.#source.read(this.#descriptors + rank * DESCRIPTOR_BYTES, DESCRIPTOR_BYTES);
    if (bytes.length < DESCRIPTOR_BYTES) return null;
    const view = new DataView(bytes.buffer, bytes.byteOffset, DESCRIPTOR_BYTES);
    return {
      offset: Number(view.getBigUint64(0, true)),
      size: view.getUint32(8, true),
      flags: view.getUint32(12, true),
    };
  }

  #unpack({ offset, size, flags }: { offset: number; size: number; flags: number }): Uint8Array | null {
    if (size > 2 * FRAME_BYTES) return null;
    const packed = this.#source.read(offset, size);
    if (packed.length < size) return null;
    if (flags === 0) return size === FRAME_BYTES ? packed : null;
    const codec = this.#codecs.get(flags);
    if (codec?.unpack === undefined || codec.unpack === null) {
      this.#tell(`Pages packed with ${codec?.name ?? `filter ${flags}`} cannot be unpacked here`);
      return null;
    }
    const page = codec.unpack(packed, FRAME_BYTES);
    if (page?.length === FRAME_BYTES) return page;
    this.#tell(`A page packed with ${codec.name} at offset ${offset} is damaged`);
    return null;
  }

  /** Each kind of damage once. */
  #tell(message: string): void {
    const kind = message.replace(/\d+/g, "#");
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#warnings.push({ reason: kind.startsWith("Pages") ? "unsupported_kind" : "body_unusable", message });
  }
}
