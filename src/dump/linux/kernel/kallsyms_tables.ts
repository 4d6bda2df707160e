/** Where the kernel's symbol tables lie: VMCOREINFO says so since Linux 6.0, before that they are found by what they hold. */

import type { KernelMemory } from "./kernel_memory.ts";
import type { Vmcoreinfo } from "./vmcoreinfo.ts";

/** Addresses of the tables. */
export interface KallsymsTables {
  readonly foundBy: "vmcoreinfo" | "scan";
  readonly names: bigint;
  readonly count: bigint;
  readonly tokens: bigint;
  readonly tokenIndex: bigint;
  readonly offsets: bigint;
  /** Null in kernels that need none. */
  readonly relativeBase: bigint | null;
}

/** The tables that VMCOREINFO names; null when it does not name them all. */
export function statedTables(info: Vmcoreinfo): KallsymsTables | null {
  const [names, count, tokens, tokenIndex, offsets] = [
    "names",
    "num_syms",
    "token_table",
    "token_index",
    "offsets",
  ].map((name) => info.symbol(`kallsyms_${name}`) ?? null);
  if (!names || !count || !tokens || !tokenIndex || !offsets) return null;
  const relativeBase = info.symbol("kallsyms_relative_base");
  return { foundBy: "vmcoreinfo", names, count, tokens, tokenIndex, offsets, relativeBase };
}

/** The image of a kernel before 6.0 ends its read-only data within this. */
const SEARCHED_BYTES = 64 * 1024 * 1024;
const STEP_BYTES = 2 * 1024 * 1024;
/** So many steps without any memory end the search. */
const MAXIMUM_EMPTY_STEPS = 12;
const PAGE_BYTES = 4096;
/** The ten digits always stand for themselves among the tokens. */
const DIGITS = Array.from("0123456789", (digit) => [digit.charCodeAt(0), 0]).flat();
const ZERO = 0x30;
const TOKENS_BEFORE_DIGITS = 48;
const LONGEST_TOKEN = 40;
const TOKENS = 256;
const SYMBOLS_PER_MARKER = 256;
const MAXIMUM_MARKERS = 8192;
/** Between the names and their markers there is nothing but padding. */
const NAMES_SEARCHED_BYTES = 65_536;

/**
 * Searches the kernel's image for the tables; null when they are not there. The order in memory is that of kernels
 * before 6.2: offsets, relative base, count, names, markers, tokens, token index, each aligned to 8.
 */
export function searchTables(memory: KernelMemory, imageStart: bigint): KallsymsTables | null {
  const start = imageStart & ~0xFFFn;
  let image = new Uint8Array(8 * STEP_BYTES);
  let empty = 0;
  for (let size = 0; size < SEARCHED_BYTES && empty < MAXIMUM_EMPTY_STEPS; size += STEP_BYTES) {
    if (size + STEP_BYTES > image.length) {
      const larger = new Uint8Array(image.length * 2);
      larger.set(image);
      image = larger;
    }
    if (readInto(memory, start + BigInt(size), image.subarray(size, size + STEP_BYTES))) empty = 0;
    else empty++;
    const from = Math.max(0, size - STEP_BYTES);
    const found = searchPiece(image.subarray(0, size + STEP_BYTES), from);
    if (found !== null) return at(start, found);
  }
  return null;
}

/** Fills `piece`; pages that are not there stay zero. False when none is there. */
function readInto(memory: KernelMemory, address: bigint, piece: Uint8Array): boolean {
  let any = false;
  for (let at = 0; at < piece.length; at += PAGE_BYTES) {
    const page = memory.space.read(address + BigInt(at), PAGE_BYTES);
    if (page === undefined) continue;
    piece.set(page, at);
    any = true;
  }
  return any;
}

interface FoundTables {
  readonly names: number;
  readonly count: number;
  readonly tokens: number;
  readonly tokenIndex: number;
  readonly symbols: number;
}

function at(start: bigint, { names, count, tokens, tokenIndex, symbols }: FoundTables): KallsymsTables {
  const relativeBase = count - 8;
  const offsets = relativeBase - align8(4 * symbols);
  const address = (offset: number) => start + BigInt(offset);
  return {
    foundBy: "scan",
    names: address(names),
    count: address(count),
    tokens: address(tokens),
    tokenIndex: address(tokenIndex),
    offsets: address(offsets),
    relativeBase: address(relativeBase),
  };
}

function searchPiece(image: Uint8Array, from: number): FoundTables | null {
  for (let zero = image.indexOf(ZERO, from); zero >= 0; zero = image.indexOf(ZERO, zero + 1)) {
    if (image[zero + 1] !== 0 || !DIGITS.every((byte, index) => image[zero + index] === byte)) continue;
    const found = tablesAround(image, zero);
    if (found !== null) return found;
  }
  return null;
}

function tablesAround(image: Uint8Array, zero: number): FoundTables | null {
  const tokens = startOfTokens(image, zero);
  if (tokens === null) return null;
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  const tokenIndex = indexBehind(image, view, tokens);
  if (tokenIndex === null) return null;
  const markers = markersBefore(view, tokens);
  return markers === null ? null : namesBefore(image, view, markers, { tokens, tokenIndex });
}

/** Walks back over the tokens before that of `0`. */
function startOfTokens(image: Uint8Array, zero: number): number | null {
  let end = zero - 1;
  for (let token = 0; token < TOKENS_BEFORE_DIGITS; token++) {
    const before = image.lastIndexOf(0, end - 1);
    if (before < 0 || end - before > LONGEST_TOKEN) return null;
    end = before;
  }
  return align8(end + 1);
}

/** The index of 256 positions that follows the tokens and must agree with them. */
function indexBehind(image: Uint8Array, view: DataView, tokens: number): number | null {
  const positions: number[] = [];
  let end = tokens;
  for (let token = 0; token < TOKENS; token++) {
    positions.push(end - tokens);
    end = image.indexOf(0, end) + 1;
    if (end === 0) return null;
  }
  const index = align8(end);
  if (index + 2 * TOKENS > image.length) return null;
  return positions.every((position, token) => view.getUint16(index + 2 * token, true) === position)
    ? index
    : null;
}

/** One position for each 256 names, ascending from 0, just before the tokens. */
function markersBefore(view: DataView, tokens: number): { start: number; values: number[] } | null {
  let start = tokens;
  if (start >= 4 && view.getUint32(start - 4, true) === 0) start -= 4;
  const values: number[] = [];
  for (let last = Infinity; start >= 4;) {
    start -= 4;
    const value = view.getUint32(start, true);
    if (value >= last || values.length > MAXIMUM_MARKERS) return null;
    values.push(value);
    last = value;
    if (value === 0) return { start, values: values.reverse() };
  }
  return null;
}

/** The names begin where their number and every 256th name agree with the markers. */
function namesBefore(
  image: Uint8Array,
  view: DataView,
  markers: { start: number; values: readonly number[] },
  { tokens, tokenIndex }: { tokens: number; tokenIndex: number },
): FoundTables | null {
  const last = markers.values.at(-1) ?? 0;
  const highest = (markers.start - last) & ~7;
  for (let names = highest; names > Math.max(16, highest - NAMES_SEARCHED_BYTES); names -= 8) {
    const symbols = view.getUint32(names - 8, true);
    if (view.getUint32(names - 4, true) !== 0) continue;
    if (Math.ceil(symbols / SYMBOLS_PER_MARKER) !== markers.values.length) continue;
    if (agreesWithMarkers(image, names, symbols, markers.values)) {
      return { names, count: names - 8, tokens, tokenIndex, symbols };
    }
  }
  return null;
}

function agreesWithMarkers(
  image: Uint8Array,
  names: number,
  count: number,
  markers: readonly number[],
): boolean {
  let at = names;
  for (let symbol = 0; symbol < count; symbol++) {
    if (symbol % SYMBOLS_PER_MARKER === 0 && at - names !== markers[symbol / SYMBOLS_PER_MARKER]) {
      return false;
    }
    const length = image[at];
    if (length === undefined) return false;
    at += 1 + length;
  }
  return true;
}

function align8(value: number): number {
  return (value + 7) & ~7;
}
