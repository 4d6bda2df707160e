/** The compilation units of a symbol file, and which one a place belongs to. */

import type { ByteReader } from "../bytes.ts";
import type { SymbolIndex } from "./dbi.ts";
import type { SectionPlace } from "./sections.ts";

/** Where a unit's own stream has what. */
export interface UnitStreams {
  readonly stream: number;
  readonly symbolBytes: number;
  /** Lines of the old form, which nothing writes any more. */
  readonly oldLineBytes: number;
  readonly lineBytes: number;
}

const FIXED_BYTES = 64;
const ABSENT = 0xFFFF;
const MAXIMUM_UNITS = 65_536;
const VERSIONS: ReadonlyMap<number, number> = new Map([[0xF12EBA2D, 28], [0xF13151E4, 32]]);
const LARGEST_LIST = 64 * 1024 * 1024;

/** The units of one file; the lists are read when they are first needed. */
export class Units {
  readonly #index: SymbolIndex;
  #units: (UnitStreams | null)[] | null = null;
  #contributions: { view: DataView; entry: number; count: number } | null = null;

  constructor(index: SymbolIndex) {
    this.#index = index;
  }

  /** The unit that a place was made from; null when no list says so or it has no stream. */
  unitAt({ section, offset }: SectionPlace): UnitStreams | null {
    const { view, entry, count } = this.#contributions ??= readContributions(this.#index);
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = middle * entry;
      const first = view.getUint16(at, true);
      if (first < section || (first === section && view.getUint32(at + 4, true) <= offset)) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return null;
    const at = (low - 1) * entry;
    const start = view.getUint32(at + 4, true);
    if (view.getUint16(at, true) !== section || offset - start >= view.getUint32(at + 8, true)) return null;
    this.#units ??= readUnits(this.#index.reader, this.#index);
    return this.#units[view.getUint16(at + 16, true)] ?? null;
  }
}

function readContributions(
  { reader, contributions }: SymbolIndex,
): { view: DataView; entry: number; count: number } {
  const none = { view: new DataView(new ArrayBuffer(0)), entry: 28, count: 0 };
  const { offset, size } = contributions;
  if (size < 4 || size > LARGEST_LIST || !reader.has(offset, size)) return none;
  const bytes = reader.bytes(offset, size, "section contributions");
  const view = new DataView(bytes.buffer, bytes.byteOffset + 4, bytes.byteLength - 4);
  const entry = VERSIONS.get(reader.u32(offset, "version"));
  return entry === undefined ? none : { view, entry, count: Math.floor((size - 4) / entry) };
}

function readUnits(reader: ByteReader, { modules }: SymbolIndex): (UnitStreams | null)[] {
  const units: (UnitStreams | null)[] = [];
  const end = Math.min(reader.size, modules.offset + modules.size);
  for (let at = modules.offset; at + FIXED_BYTES <= end && units.length < MAXIMUM_UNITS;) {
    const stream = reader.u16(at + 34, "stream");
    units.push(
      stream === ABSENT ? null : {
        stream,
        symbolBytes: reader.u32(at + 36, "symbols"),
        oldLineBytes: reader.u32(at + 40, "old lines"),
        lineBytes: reader.u32(at + 44, "lines"),
      },
    );
    const name = skipText(reader, at + FIXED_BYTES, end);
    const object = name === null ? null : skipText(reader, name, end);
    if (object === null) break;
    at = (object + 3) & ~3;
  }
  return units;
}

/** The position behind a NUL-terminated text; null when it does not end. */
function skipText(reader: ByteReader, at: number, end: number): number | null {
  const bytes = reader.bytes(at, Math.min(4096, end - at), "name");
  const length = bytes.indexOf(0);
  return length < 0 ? null : at + length + 1;
}
