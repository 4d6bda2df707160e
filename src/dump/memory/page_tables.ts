/** Walks page tables: from a virtual page number to a page frame, for each way of paging. */

import { type Absence, isAbsence } from "./absence.ts";
import {
  frameOf,
  type NotPresent,
  readNotPresent,
  readNotPresentNarrow,
  readNotPresentPae,
  type WideEntry,
} from "./entries.ts";
import type { PhysicalMemory } from "./physical.ts";
import type { Place } from "./virtual.ts";

/** The ways of paging that are walked. */
export type Paging = "x64" | "x64-5level" | "x86-pae" | "x86" | "arm64";

/** The frame that a virtual page lies in. */
export interface FramePlace {
  readonly frame: number;
  readonly through: Exclude<Place["through"], "block">;
}

/** Translates virtual page numbers; tables are read page by page and never trusted. */
export interface PageTables {
  /** Width of an address. */
  readonly bits: 32 | 64;
  /** The frame of page number `page` (address / 4096, below 2^52), or why there is none. */
  find(page: number): FramePlace | Absence;
}

/** What a walk needs to know beside the tables. */
export interface PageTableOptions {
  physical: PhysicalMemory;
  paging: Paging;
  /** Value of the page table register; low bits that are no address are ignored. */
  directoryTableBase: bigint;
  /** Windows build, which decides how entries of absent pages are read. */
  build: number | null;
  /** Whose tables they are: on other systems than Windows an entry without the present bit says nothing. */
  system?: "windows" | "linux";
  /** Address bits that only mark encrypted memory. */
  encryptionMask?: bigint;
}

/** The tables that begin at `directoryTableBase`. */
export function openPageTables(options: PageTableOptions): PageTables {
  switch (options.paging) {
    case "x64":
      return new LongTables(options, 4);
    case "x64-5level":
      return new LongTables(options, 5);
    case "arm64":
      return new ArmTables(options);
    case "x86-pae":
      return new PaeTables(options);
    case "x86":
      return new NarrowTables(options);
  }
}

/** Entries in a table of 64-bit entries, and the pages of 4 KiB that a large page of each level has. */
const ENTRIES = 512;
const LARGE_PAGES = [1, 512, 512 * 512] as const;
const PRESENT = 1;
const LARGE = 0x80;
const LOWEST_LEVEL = 1;
/** High halves of entries: the bits that belong to a frame's number. What the real debugger takes, tried bit by bit. */
const HIGH_MASK = { x64: 0xF_FFFF, pae: 0x1F, arm64: 0xFFFF } as const;
/** Bit 45 of entries of absent pages, by which the kernel keeps processors from guessing at a real frame. */
const GUARD_FRAME_BIT = 2 ** 33;
/** A prototype entry leads to a real one; the debugger follows no second step, and neither does this. */
const MAXIMUM_HOPS = 1;

abstract class WideTables implements PageTables {
  abstract readonly bits: 32 | 64;
  protected readonly physical: PhysicalMemory;
  readonly #highMask: number;

  constructor(physical: PhysicalMemory, highMask: number) {
    this.physical = physical;
    this.#highMask = highMask;
  }

  abstract find(page: number, hops?: number): FramePlace | Absence;

  /** What an entry without the present bit stands for. */
  protected abstract decode(entry: WideEntry, level: number): NotPresent;

  /** Entry `index` of the table in `frame`. */
  protected entry(frame: number, index: number): WideEntry | Absence {
    const table = this.physical.page(frame);
    if (isAbsence(table)) return table;
    const at = index * 8;
    return { low: dword(table, at), high: dword(table, at + 4) };
  }

  /** The frame that an entry names. */
  protected frame(entry: WideEntry): number {
    return frameOf(entry, this.#highMask);
  }

  /** Follows an entry that is not present, to the frame that still holds its page if there is one. */
  protected follow(entry: WideEntry, level: number, hops: number): FramePlace | Absence {
    const decoded = this.decode(entry, level);
    if (decoded.kind === "absent") return decoded.absence;
    if (decoded.kind === "transition") {
      const frame = this.frame(entry);
      const guarded = Math.floor(frame / GUARD_FRAME_BIT) % 2 === 1;
      return { frame: guarded ? frame - GUARD_FRAME_BIT : frame, through: "transition" };
    }
    if (hops <= 0) return { why: "unknown_entry", level };
    const real = this.#entryAt(decoded.address);
    if (isAbsence(real)) return real;
    if (real.low & PRESENT) return { frame: this.frame(real), through: "prototype" };
    const behind = this.follow(real, level, hops - 1);
    return isAbsence(behind) ? behind : { frame: behind.frame, through: "prototype" };
  }

  /** The 64-bit entry at a virtual address; prototypes on the way to it are not followed. */
  #entryAt(address: bigint): WideEntry | Absence {
    const place = this.find(Number(address >> 12n), 0);
    return isAbsence(place) ? place : this.entry(place.frame, (Number(address & 0xFFFn) / 8) | 0);
  }
}

/** x64 with 4 or 5 levels. */
class LongTables extends WideTables {
  readonly bits = 64;
  readonly #root: number;
  readonly #levels: 4 | 5;
  readonly #build: number | null;
  readonly #linux: boolean;

  constructor(options: PageTableOptions, levels: 4 | 5) {
    super(options.physical, HIGH_MASK.x64 & ~Number((options.encryptionMask ?? 0n) >> 32n));
    this.#root = Number(BigInt.asUintN(40, options.directoryTableBase >> 12n));
    this.#levels = levels;
    this.#build = options.build;
    this.#linux = options.system === "linux";
  }

  find(page: number, hops: number = MAXIMUM_HOPS): FramePlace | Absence {
    if (!isCanonical(page, 9 * this.#levels - 1)) return { why: "not_canonical" };
    let table = this.#root;
    for (let level: number = this.#levels; level >= LOWEST_LEVEL; level--) {
      const entry = this.entry(table, indexOf(page, level));
      if (isAbsence(entry)) return entry;
      if ((entry.low & PRESENT) === 0) return this.follow(entry, level, hops);
      const frame = this.frame(entry);
      if (level === LOWEST_LEVEL) return { frame, through: "page" };
      if ((level === 2 || level === 3) && (entry.low & LARGE) !== 0) return largePage(frame, page, level);
      table = frame;
    }
    return { why: "unknown_entry", level: LOWEST_LEVEL };
  }

  protected override decode(entry: WideEntry, level: number): NotPresent {
    return this.#linux
      ? { kind: "absent", absence: { why: "not_mapped", level } }
      : readNotPresent(entry, this.#build, level);
  }
}

/** x86 with physical address extension: four entries, then two levels. */
class PaeTables extends WideTables {
  readonly bits = 32;
  readonly #root: bigint;

  constructor(options: PageTableOptions) {
    super(options.physical, HIGH_MASK.pae);
    this.#root = options.directoryTableBase & 0xFFFF_FFE0n;
  }

  find(page: number, hops: number = MAXIMUM_HOPS): FramePlace | Absence {
    const rootFrame = Number(this.#root >> 12n);
    const rootIndex = Number(this.#root & 0xFFFn) / 8 + Math.floor(page / (ENTRIES * ENTRIES)) % 4;
    const directory = this.entry(rootFrame, rootIndex);
    if (isAbsence(directory)) return directory;
    if ((directory.low & PRESENT) === 0) return { why: "not_mapped", level: 3 };
    const upper = this.entry(this.frame(directory), indexOf(page, 2));
    if (isAbsence(upper)) return upper;
    if ((upper.low & PRESENT) === 0) return this.follow(upper, 2, hops);
    if ((upper.low & LARGE) !== 0) return largePage(this.frame(upper), page, 2);
    const entry = this.entry(this.frame(upper), indexOf(page, 1));
    if (isAbsence(entry)) return entry;
    if ((entry.low & PRESENT) === 0) return this.follow(entry, LOWEST_LEVEL, hops);
    return { frame: this.frame(entry), through: "page" };
  }

  protected override decode(entry: WideEntry, level: number): NotPresent {
    return readNotPresentPae(entry, level);
  }
}

/** ARM64 with 4 KiB pages; one table for both halves. Entries of absent pages are those of x64. */
class ArmTables extends WideTables {
  readonly bits = 64;
  readonly #root: number;
  readonly #build: number | null;

  constructor(options: PageTableOptions) {
    super(options.physical, HIGH_MASK.arm64);
    this.#root = Number(BigInt.asUintN(36, options.directoryTableBase >> 12n));
    this.#build = options.build;
  }

  find(page: number, hops: number = MAXIMUM_HOPS): FramePlace | Absence {
    if (!isCanonical(page, 35)) return { why: "not_canonical" };
    let table = this.#root;
    for (let level = 4; level >= LOWEST_LEVEL; level--) {
      const entry = this.entry(table, indexOf(page, level));
      if (isAbsence(entry)) return entry;
      if ((entry.low & PRESENT) === 0) return this.follow(entry, level, hops);
      const frame = this.frame(entry);
      const descends = (entry.low & 2) !== 0; // a table above the last level, a page in it
      if (level === LOWEST_LEVEL) {
        return descends ? { frame, through: "page" } : { why: "unknown_entry", level };
      }
      if (!descends) {
        return level === 2 || level === 3 ? largePage(frame, page, level) : { why: "unknown_entry", level };
      }
      table = frame;
    }
    return { why: "unknown_entry", level: LOWEST_LEVEL };
  }

  protected override decode(entry: WideEntry, level: number): NotPresent {
    return readNotPresent(entry, this.#build, level);
  }
}

/** x86 without physical address extension: two levels of 32-bit entries. */
class NarrowTables implements PageTables {
  readonly bits = 32;
  readonly #physical: PhysicalMemory;
  readonly #root: number;

  constructor(options: PageTableOptions) {
    this.#physical = options.physical;
    this.#root = Number(BigInt.asUintN(20, options.directoryTableBase >> 12n));
  }

  find(page: number): FramePlace | Absence {
    const upper = this.#entry(this.#root, Math.floor(page / 1024) % 1024);
    if (typeof upper !== "number") return upper;
    if ((upper & PRESENT) === 0) return this.#follow(upper, 2);
    if ((upper & LARGE) !== 0) {
      const high = (upper >>> 13) & 0xFF; // bits 39:32 of the address of a 4 MiB page
      return { frame: high * 0x10_0000 + (upper >>> 22) * 1024 + page % 1024, through: "large_page" };
    }
    const entry = this.#entry(upper >>> 12, page % 1024);
    if (typeof entry !== "number") return entry;
    return (entry & PRESENT) === 0 ? this.#follow(entry, 1) : { frame: entry >>> 12, through: "page" };
  }

  #entry(frame: number, index: number): number | Absence {
    const table = this.#physical.page(frame);
    return isAbsence(table) ? table : dword(table, index * 4);
  }

  #follow(entry: number, level: number): FramePlace | Absence {
    const decoded = readNotPresentNarrow(entry, level);
    if (decoded.kind === "absent") return decoded.absence;
    if (decoded.kind === "transition") return { frame: entry >>> 12, through: "transition" };
    return { why: "unknown_entry", level };
  }
}

function largePage(frame: number, page: number, level: 2 | 3): FramePlace {
  const pages = LARGE_PAGES[level - 1] ?? 1;
  return { frame: frame - frame % pages + page % pages, through: "large_page" };
}

/** Index of a page in its table of the given level, 1 for the last. */
function indexOf(page: number, level: number): number {
  return Math.floor(page / ENTRIES ** (level - 1)) % ENTRIES;
}

/** Whether all bits of a 52-bit page number from `signBit` on are equal. */
function isCanonical(page: number, signBit: number): boolean {
  const high = Math.floor(page / 2 ** signBit);
  return high === 0 || high === 2 ** (52 - signBit) - 1;
}

function dword(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)) >>> 0;
}
