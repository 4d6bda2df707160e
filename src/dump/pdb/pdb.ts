/** A symbol file: what the addresses of an image are called. */

import { HvError } from "../../base/errors.ts";
import { type ByteReader, type ByteSource, MAXIMUM_READ_BYTES } from "../bytes.ts";
import { lastPathPart } from "../modules.ts";
import { FileImage, type ImageBytes, LayeredImage } from "../pe/image.ts";
import { fieldText } from "../text.ts";
import { DEBUG_STREAM, readSymbolIndex, streamReader, type SymbolIndex } from "./dbi.ts";
import { functionName } from "./ids.ts";
import { inlineStretches } from "./inline_code.ts";
import { LineTables, type RawLine } from "./lines.ts";
import { Units, type UnitStreams } from "./modules.ts";
import { MsfFile } from "./msf.ts";
import { Publics } from "./publics.ts";
import { SectionMap, type SectionPlace } from "./sections.ts";
import { findProcedure, type Procedure } from "./unit_symbols.ts";

/** A line of source. */
export interface PdbLine {
  /** Last part of the path that the compiler recorded. */
  readonly file: string;
  readonly line: number;
}

/** A symbol at or before an address. */
export interface PdbSymbol {
  readonly name: string;
  readonly displacement: number;
  readonly source: PdbLine | null;
}

/** An address with its function and those put into it there, innermost first. */
export interface PdbAnswer {
  readonly symbol: PdbSymbol;
  readonly inlined: readonly PdbSymbol[];
}

/** Unwind data that a symbol file carries for its image. */
export interface PdbUnwindData {
  readonly bytes: ImageBytes;
  readonly functions: { readonly rva: number; readonly size: number };
}

/** Where a unit's text is kept: the table of file names. */
const NAMES_STREAM = "/names";
const NAMES_START = 12;
const SIGNATURE_BYTES = 4;
const EXTRA_HEADER = 32;

/** An opened symbol file. */
export class PdbFile {
  readonly id: string;
  readonly age: number;
  readonly #msf: MsfFile;
  readonly #index: SymbolIndex;
  readonly #sections: SectionMap;
  readonly #publics: Publics;
  readonly #units: Units;
  readonly #tables = new Map<number, { symbols: Uint8Array; lines: LineTables }>();

  /** Reads the indexes; fails with `hv.bad_dump` when the file is none, of another form, or damaged. */
  constructor(source: ByteSource) {
    this.#msf = MsfFile.open(source);
    this.#index = readSymbolIndex(this.#msf);
    this.id = this.#index.id;
    this.age = this.#index.age;
    this.#sections = new SectionMap(this.#msf, this.#index);
    this.#publics = new Publics(this.#msf, this.#index);
    this.#units = new Units(this.#index);
  }

  /**
   * What an address is called. `looked` is the address whose function counts, with those that were put into it: for a
   * return address the one before it. Null when nothing is known or the part of the file that would tell is damaged.
   */
  locate(rva: number, looked: number): PdbAnswer | null {
    return attempt(() => this.#locate(rva, looked)) ?? null;
  }

  /** Addresses of public symbols by name, from the image's base; those that are not there are left out. */
  findPublics(names: ReadonlySet<string>): Map<string, number> {
    const found = new Map<string, number>();
    for (const [name, place] of attempt(() => this.#publics.find(names)) ?? []) {
      const rva = this.#sections.rvaOf(place);
      if (rva !== null) found.set(name, rva);
    }
    return found;
  }

  /** The image's unwind data, which the symbol files of Windows itself carry; null in others. */
  get unwindData(): PdbUnwindData | null {
    return attempt(() => {
      const functions = this.#imagePart(DEBUG_STREAM.functions);
      const infos = this.#imagePart(DEBUG_STREAM.unwindInfo);
      return functions === null || infos === null
        ? null
        : { bytes: new LayeredImage([functions.bytes, infos.bytes]), functions: functions.range };
    }) ?? null;
  }

  #imagePart(position: number): { bytes: ImageBytes; range: { rva: number; size: number } } | null {
    const number = this.#index.debugStreams[position] ?? null;
    const stream = number === null ? null : this.#msf.stream(number);
    if (number === null || stream === null) return null;
    const reader = streamReader(this.#msf, number);
    const header = reader.u32(4, "header size");
    const size = Math.min(reader.u32(8, "data size"), stream.size - header);
    const rva = reader.u32(12, "data address");
    if (header < EXTRA_HEADER - 16 || size <= 0) return null;
    return { bytes: new FileImage(stream, [{ rva, offset: header, size }]), range: { rva, size } };
  }

  #locate(rva: number, looked: number): PdbAnswer | null {
    const place = this.#sections.placeOf(looked);
    if (place === null) return null;
    const unit = attempt(() => this.#units.unitAt(place)) ?? null;
    const tables = unit === null ? null : attempt(() => this.#tablesOf(unit)) ?? null;
    const procedure = tables === null ? null : findProcedure(tables.symbols, place);
    const beyond = rva - looked;
    if (tables !== null && procedure !== null) {
      const name = fieldText(procedure.name);
      const displacement = place.offset - procedure.offset + beyond;
      // Debuggers show the line that a call returns to. A call that ends its function returns nowhere.
      const shown = displacement < procedure.length ? { ...place, offset: place.offset + beyond } : place;
      const source = this.#line(tables.lines, tables.lines.lineAt(shown));
      return {
        symbol: { name, displacement, source },
        inlined: this.#inlined(procedure, tables.lines, place, beyond),
      };
    }
    const symbol = this.#publics.nearest(place);
    if (symbol === null) return null;
    const source = tables === null ? null : this.#line(tables.lines, tables.lines.lineAt(place));
    return {
      symbol: { name: fieldText(symbol.name), displacement: place.offset - symbol.offset + beyond, source },
      inlined: [],
    };
  }

  #inlined(procedure: Procedure, lines: LineTables, place: SectionPlace, beyond: number): PdbSymbol[] {
    const inside = place.offset - procedure.offset;
    const found: { depth: number; symbol: PdbSymbol }[] = [];
    for (const { inlinee, depth, annotations } of procedure.inlined) {
      const stretches = inlineStretches(annotations);
      const here = stretches.find(({ start, end }) => inside >= start && inside < end);
      const name = here === undefined ? null : functionName(this.#msf, inlinee);
      if (here === undefined || name === null) continue;
      const begin = lines.inlinee(inlinee);
      const source = begin === null
        ? null
        : this.#line(lines, { file: begin.file, line: begin.line + here.line });
      const first = Math.min(...stretches.map(({ start }) => start));
      found.push({ depth, symbol: { name, displacement: inside - first + beyond, source } });
    }
    return found.sort((a, b) => b.depth - a.depth).map(({ symbol }) => symbol);
  }

  #tablesOf({ stream, symbolBytes, oldLineBytes, lineBytes }: UnitStreams): {
    symbols: Uint8Array;
    lines: LineTables;
  } {
    const known = this.#tables.get(stream);
    if (known !== undefined) return known;
    const reader = streamReader(this.#msf, stream);
    const bytes = (offset: number, size: number): Uint8Array =>
      size <= 0 || size > MAXIMUM_READ_BYTES || !reader.has(offset, size)
        ? new Uint8Array(0)
        : reader.bytes(offset, size, "unit");
    const tables = {
      symbols: bytes(SIGNATURE_BYTES, symbolBytes - SIGNATURE_BYTES),
      lines: new LineTables(bytes(symbolBytes + oldLineBytes, lineBytes)),
    };
    this.#tables.set(stream, tables);
    return tables;
  }

  #line(tables: LineTables, raw: RawLine | null): PdbLine | null {
    const name = raw === null ? null : tables.fileName(raw.file);
    const names = this.#names();
    if (raw === null || name === null || names === null || !names.has(NAMES_START + name, 1)) return null;
    const path = names.ascii(NAMES_START + name, 1024, "file name", 1024);
    return { file: lastPathPart(path), line: raw.line };
  }

  #names(): ByteReader | null {
    const number = this.#index.namedStreams.get(NAMES_STREAM);
    return number === undefined || this.#msf.stream(number) === null ? null : streamReader(this.#msf, number);
  }
}

/** A damaged part is an answer that is missing; every other failure passes through. */
function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof HvError && thrown.code === "hv.bad_dump") return undefined;
    throw thrown;
  }
}
