/** Between addresses of an image and the section and offset that symbol files speak in. */

import type { ByteReader } from "../bytes.ts";
import { parseSection, type Section } from "../pe/headers.ts";
import type { MsfFile } from "./msf.ts";
import { DEBUG_STREAM, streamReader, type SymbolIndex } from "./dbi.ts";

/** A place as symbol files write it: sections count from 1. */
export interface SectionPlace {
  readonly section: number;
  readonly offset: number;
}

const SECTION_BYTES = 40;
const MAXIMUM_SECTIONS = 96;
const OMAP_BYTES = 8;

/** The map of one symbol file. Old system images were rearranged after linking: then two tables lead there and back. */
export class SectionMap {
  readonly #sections: readonly Section[];
  readonly #toSource: ByteReader | null;
  readonly #fromSource: ByteReader | null;

  constructor(msf: MsfFile, { debugStreams }: SymbolIndex) {
    const reader = (position: number): ByteReader | null => {
      const number = debugStreams[position] ?? null;
      return number === null ? null : streamReader(msf, number);
    };
    this.#toSource = reader(DEBUG_STREAM.omapToSource);
    this.#fromSource = reader(DEBUG_STREAM.omapFromSource);
    const mapped = this.#toSource !== null && this.#fromSource !== null;
    const headers = (mapped ? reader(DEBUG_STREAM.originalSections) : null) ?? reader(DEBUG_STREAM.sections);
    const count = Math.min(MAXIMUM_SECTIONS, Math.floor((headers?.size ?? 0) / SECTION_BYTES));
    this.#sections = Array.from(
      { length: count },
      (_, index) =>
        parseSection(
          headers?.bytes(index * SECTION_BYTES, SECTION_BYTES, "section") ?? new Uint8Array(SECTION_BYTES),
        ),
    );
  }

  /** The place of an address; null when it is in no section. */
  placeOf(rva: number): SectionPlace | null {
    const source = this.#toSource === null ? rva : translate(this.#toSource, rva);
    if (source === null) return null;
    const index = this.#sections.findIndex((each) =>
      source >= each.rva && source - each.rva < Math.max(each.virtualSize, each.fileSize)
    );
    const section = this.#sections[index];
    return section === undefined ? null : { section: index + 1, offset: source - section.rva };
  }

  /** The address of a place; null for absolute symbols and what was removed. */
  rvaOf({ section, offset }: SectionPlace): number | null {
    const header = this.#sections[section - 1];
    if (header === undefined) return null;
    const source = header.rva + offset;
    return this.#fromSource === null ? source : translate(this.#fromSource, source);
  }
}

/** Looks an address up in a table of (from, to), sorted; a target of 0 means that it was removed. */
function translate(table: ByteReader, rva: number): number | null {
  let low = 0;
  let high = Math.floor(table.size / OMAP_BYTES);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (table.u32(middle * OMAP_BYTES, "address map") <= rva) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return null;
  const entry = (low - 1) * OMAP_BYTES;
  const target = table.u32(entry + 4, "address map");
  return target === 0 ? null : target + rva - table.u32(entry, "address map");
}
