/** The streams that say what a symbol file is of, and where its parts lie. */

import { ByteReader, type ByteSource } from "../bytes.ts";
import { guidText } from "../code_view.ts";
import { type MsfFile, unreadableSymbols } from "./msf.ts";

const INFO_STREAM = 1;
const DBI_STREAM = 3;
const DBI_HEADER = 64;
const ABSENT = 0xFFFF;
const X86 = 0x14C;

/** Numbers of the streams of the optional header, by position. */
export const DEBUG_STREAM = {
  omapToSource: 3,
  omapFromSource: 4,
  sections: 5,
  unwindInfo: 7,
  functions: 8,
  originalSections: 10,
} as const;

/** A part of the DBI stream. */
export interface Part {
  readonly offset: number;
  readonly size: number;
}

/** What the two streams tell. */
export interface SymbolIndex {
  /** GUID as 32 digits, and the age that images name. */
  readonly id: string;
  readonly age: number;
  /** The only processor whose public names are decorated. */
  readonly isX86: boolean;
  readonly reader: ByteReader;
  readonly publicStream: number;
  readonly recordStream: number;
  readonly modules: Part;
  readonly contributions: Part;
  /** Stream numbers by position; null where there is none. */
  readonly debugStreams: readonly (number | null)[];
  /** Offset into the name buffer by stream name. */
  readonly namedStreams: ReadonlyMap<string, number>;
}

/** Reads them; fails with `hv.bad_dump` when they are missing or do not fit. */
export function readSymbolIndex(msf: MsfFile): SymbolIndex {
  const info = streamReader(msf, INFO_STREAM);
  const reader = streamReader(msf, DBI_STREAM);
  const size = (at: number): number => Math.max(0, reader.i32(at, "substream size"));
  const [modules, contributions, map, sources, types] = [0x18, 0x1C, 0x20, 0x24, 0x28].map(size);
  const debugBytes = size(0x30);
  const ecBytes = size(0x34);
  const afterModules = DBI_HEADER + (modules ?? 0);
  const debugStart = afterModules + (contributions ?? 0) + (map ?? 0) + (sources ?? 0) + (types ?? 0) +
    ecBytes;
  const debugStreams = Array.from({ length: Math.min(11, debugBytes >> 1) }, (_, index) => {
    if (!reader.has(debugStart + index * 2, 2)) return null;
    const number = reader.u16(debugStart + index * 2, "debug stream");
    return number === ABSENT ? null : number;
  });
  return {
    id: guidText(info.bytes(12, 16, "GUID")),
    age: reader.u32(8, "Age"),
    isX86: reader.u16(0x3A, "Machine") === X86,
    reader,
    publicStream: reader.u16(0x10, "PublicStream"),
    recordStream: reader.u16(0x14, "SymRecordStream"),
    modules: { offset: DBI_HEADER, size: modules ?? 0 },
    contributions: { offset: afterModules, size: contributions ?? 0 },
    debugStreams,
    namedStreams: readNamedStreams(info),
  };
}

/** A reader over a stream; fails when it is missing. */
export function streamReader(msf: MsfFile, index: number): ByteReader {
  const stream: ByteSource | null = msf.stream(index);
  if (stream === null) throw unreadableSymbols(`Cannot read the symbol file: stream ${index} is missing`);
  return new ByteReader(stream, { what: "symbol file" });
}

const MAXIMUM_NAMES = 4096;

/** The map of named streams: a buffer of names, then a hash table of (offset in it, stream). Empty when damaged. */
function readNamedStreams(info: ByteReader): Map<string, number> {
  const found = new Map<string, number>();
  const start = 28;
  if (!info.has(start, 4)) return found;
  const bufferBytes = info.u32(start, "names");
  const table = start + 4 + bufferBytes;
  if (!info.has(table, 12)) return found;
  const entries = Math.min(MAXIMUM_NAMES, info.u32(table, "entries"));
  let at = table + 8;
  for (let vector = 0; vector < 2; vector++) {
    if (!info.has(at, 4)) return found;
    at += 4 + info.u32(at, "bit vector") * 4;
  }
  for (let index = 0; index < entries && info.has(at, 8); index++, at += 8) {
    const name = info.u32(at, "name");
    if (name >= bufferBytes) continue;
    found.set(info.ascii(start + 4 + name, bufferBytes - name, "name"), info.u32(at + 4, "stream"));
  }
  return found;
}
