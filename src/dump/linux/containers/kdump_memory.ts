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
const KEPT_BYTES = 16 * 1024 * 1024;
/** Pages that a search passes by although the bitmap lists them. */
const MOST_MISSES = 2 ** 16;
/** Damaged pages that are remembered. */
const MOST_DAMAGED = 2 ** 16;

/** What the file says of its pages. */
export interface KdumpPages {
  /** Bytes of each: a whole number of frames, more than one where the machine's pages may be larger. */
  readonly bytes: number;
  readonly ranks: PageRanks;
  /** Where the descriptors begin. */
  readonly descriptors: number;
}

/** Pages by their descriptors. What is damaged is told once for each kind of damage. */
export class KdumpMemory implements PhysicalMemory {
  readonly #source: ByteSource;
  readonly #pageBytes: number;
  readonly #ranks: PageRanks;
  readonly #descriptors: number;
  readonly #codecs: ReadonlyMap<number, PageCodec>;
  readonly #warnings: DumpWarning[];
  readonly #pages: PageCache;
  readonly #told = new Set<string>();
  /** Unpacking fails slowly, and page tables are asked for again and again. */
  readonly #damaged = new Set<number>();

  constructor(
    source: ByteSource,
    { bytes, ranks, descriptors }: KdumpPages,
    codecs: ReadonlyMap<number, PageCodec>,
    warnings: DumpWarning[],
  ) {
    this.#source = source;
    this.#pageBytes = bytes;
    this.#pages = new PageCache(KEPT_BYTES / bytes);
    this.#ranks = ranks;
    this.#descriptors = descriptors;
    this.#codecs = codecs;
    this.#warnings = warnings;
  }

  get pageCount(): number {
    return this.#ranks.count * this.#framesPerPage;
  }

  /** Every page that can be read, the highest first; ends after too many that cannot. */
  *pieces(): Iterable<MemoryPiece> {
    let misses = 0;
    for (const page of this.#ranks.descending()) {
      const bytes = this.#read(page);
      if (typeof bytes !== "string") yield { address: page * this.#pageBytes, bytes };
      else if (++misses > MOST_MISSES) return;
    }
  }

  page(frame: number): Uint8Array | Absence {
    const bytes = this.#read(Math.floor(frame / this.#framesPerPage));
    if (typeof bytes === "string") return { why: bytes, frame };
    const inside = frame % this.#framesPerPage * FRAME_BYTES;
    return bytes.length === FRAME_BYTES ? bytes : bytes.subarray(inside, inside + FRAME_BYTES);
  }

  fileOffsetOf(frame: number): number | null {
    return this.#descriptor(Math.floor(frame / this.#framesPerPage))?.offset ?? null;
  }

  read(address: bigint, length: number): Uint8Array | Absence {
    return readAcrossFrames(this, address, length);
  }

  get #framesPerPage(): number {
    return this.#pageBytes / FRAME_BYTES;
  }

  /** A whole page of the file, or why it is not there. */
  #read(page: number): Uint8Array | "truncated" | "not_in_dump" {
    const kept = this.#pages.get(page);
    if (kept !== undefined) return kept;
    if (this.#damaged.has(page)) return "truncated";
    const descriptor = this.#descriptor(page);
    if (descriptor === null) return this.#ranks.has(page) ? "truncated" : "not_in_dump";
    const bytes = this.#unpack(descriptor);
    if (bytes === null) {
      if (this.#damaged.size < MOST_DAMAGED) this.#damaged.add(page);
      return "truncated";
    }
    this.#pages.set(page, bytes);
    return bytes;
  }

  #descriptor(page: number): { offset: number; size: number; flags: number } | null {
    const rank = this.#ranks.rankOf(page);
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
    if (size > 2 * this.#pageBytes) return null;
    const packed = this.#source.read(offset, size);
    if (packed.length < size) return null;
    if (flags === 0) return size === this.#pageBytes ? packed : null;
    const codec = this.#codecs.get(flags);
    if (codec?.unpack === undefined || codec.unpack === null) {
      this.#tell(`Pages packed with ${codec?.name ?? `filter ${flags}`} cannot be unpacked here`);
      return null;
    }
    const page = codec.unpack(packed, this.#pageBytes);
    if (page?.length === this.#pageBytes) return page;
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
