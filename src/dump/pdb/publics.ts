/** Public symbols: the names that every symbol file has. */

import type { ByteReader } from "../bytes.ts";
import { readableName } from "./names.ts";
import type { MsfFile } from "./msf.ts";
import { streamReader, type SymbolIndex } from "./dbi.ts";
import type { SectionPlace } from "./sections.ts";

/** A symbol with its place. */
export interface PublicSymbol extends SectionPlace {
  readonly name: string;
}

const PUBLIC = 0x110E;
const HEADER_BYTES = 28;
const LONGEST_NAME = 4096;

/** The public symbols of one file. */
export class Publics {
  readonly #records: ByteReader;
  readonly #map: ByteReader | null;
  readonly #start: number;
  readonly #count: number;
  readonly #isX86: boolean;

  constructor(msf: MsfFile, index: SymbolIndex) {
    this.#isX86 = index.isX86;
    this.#records = streamReader(msf, index.recordStream);
    this.#map = msf.stream(index.publicStream) === null ? null : streamReader(msf, index.publicStream);
    const there = this.#map !== null && this.#map.has(0, HEADER_BYTES);
    const hashBytes = there ? this.#map?.u32(0, "hash size") ?? 0 : 0;
    const mapBytes = there ? this.#map?.u32(4, "map size") ?? 0 : 0;
    this.#start = HEADER_BYTES + hashBytes;
    this.#count = Math.floor(Math.max(0, Math.min(mapBytes, (this.#map?.size ?? 0) - this.#start)) / 4);
  }

  /** The nearest symbol at or before a place, in its section. The map is sorted: about 17 records are read. */
  nearest({ section, offset }: SectionPlace): PublicSymbol | null {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const place = this.#placeAt(middle);
      if (place === null) return null;
      const before = place.section < section || (place.section === section && place.offset <= offset);
      if (before) low = middle + 1;
      else high = middle;
    }
    const record = low === 0 ? null : this.#recordAt(low - 1);
    const found = record === null ? null : this.#read(record);
    return found !== null && found.section === section ? found : null;
  }

  /** The places of some names, by one pass over the records. */
  find(names: ReadonlySet<string>): Map<string, SectionPlace> {
    const found = new Map<string, SectionPlace>();
    const { size } = this.#records;
    for (let at = 0; at + 4 <= size && found.size < names.size;) {
      const length = this.#records.u16(at, "record");
      if (length < 2) break;
      if (this.#records.u16(at + 2, "kind") === PUBLIC) {
        const symbol = this.#read(at);
        if (symbol !== null && names.has(symbol.name)) found.set(symbol.name, symbol);
      }
      at += length + 2;
    }
    return found;
  }

  #recordAt(index: number): number | null {
    return this.#map?.u32(this.#start + index * 4, "address map") ?? null;
  }

  #placeAt(index: number): SectionPlace | null {
    const at = this.#recordAt(index);
    if (at === null || !this.#records.has(at, 14)) return null;
    return { offset: this.#records.u32(at + 8, "offset"), section: this.#records.u16(at + 12, "section") };
  }

  #read(at: number): PublicSymbol | null {
    if (!this.#records.has(at, 14)) return null;
    const length = this.#records.u16(at, "record");
    if (length < 12 || this.#records.u16(at + 2, "kind") !== PUBLIC) return null;
    return {
      offset: this.#records.u32(at + 8, "offset"),
      section: this.#records.u16(at + 12, "section"),
      name: readableName(
        this.#records.ascii(at + 14, Math.min(LONGEST_NAME, length - 12), "name"),
        this.#isX86,
      ),
    };
  }
}
