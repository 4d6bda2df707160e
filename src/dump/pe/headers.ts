/** The headers of an image: its identity, its sections, and the tables that a stack walk and symbols need. */

import { once } from "../../base/once.ts";
import type { ByteSource } from "../bytes.ts";
import { FileImage, type FileStretch, type ImageBytes, viewOf } from "./image.ts";

/** A table inside an image. */
export interface DataDirectory {
  readonly rva: number;
  readonly size: number;
}

/** One section. */
export interface Section {
  readonly rva: number;
  readonly virtualSize: number;
  readonly fileOffset: number;
  readonly fileSize: number;
  readonly executable: boolean;
}

/** What the headers tell. */
export interface PeHeaders {
  readonly machine: number;
  /** What a store files the image under, with its size; no time in modern Windows images. */
  readonly timeDateStamp: number;
  readonly sizeOfImage: number;
  readonly checkSum: number;
  readonly headerSize: number;
  /** Read when they are first asked for: identifying an image needs none. */
  readonly sections: readonly Section[];
  /** Table of functions (`.pdata`); null without one. */
  readonly exceptions: DataDirectory | null;
  readonly debug: DataDirectory | null;
}

const DOS_MAGIC = 0x5A4D;
const PE_MAGIC = 0x4550;
const PE32 = 0x10B;
const PE32_PLUS = 0x20B;
/** The file header's fields and the optional header up to its directories, by offset from the signature. */
const OPTIONAL = 24;
const EXCEPTION_DIRECTORY = 3;
const DEBUG_DIRECTORY = 6;
const SECTION_BYTES = 40;
/** The format's own limit. */
const MAXIMUM_SECTIONS = 96;
const EXECUTABLE = 0x2000_0000;
/** No linker puts its header farther into the file. */
const FARTHEST_HEADER = 0x1000;

/** Reads the headers; null when they are not there or are none. */
export function readPeHeaders(image: ImageBytes): PeHeaders | null {
  const dos = image.read(0, 0x40);
  if (dos === undefined || viewOf(dos).getUint16(0, true) !== DOS_MAGIC) return null;
  const start = viewOf(dos).getUint32(0x3C, true);
  if (start > FARTHEST_HEADER) return null;
  const fixed = image.read(start, OPTIONAL + 0x70);
  if (fixed === undefined) return null;
  const view = viewOf(fixed);
  const magic = view.getUint16(OPTIONAL, true);
  if (view.getUint32(0, true) !== PE_MAGIC || (magic !== PE32 && magic !== PE32_PLUS)) return null;
  const directories = start + OPTIONAL + (magic === PE32 ? 0x60 : 0x70);
  const sections = once(() =>
    readSections(image, start + OPTIONAL + view.getUint16(20, true), view.getUint16(6, true))
  );
  return {
    machine: view.getUint16(4, true),
    timeDateStamp: view.getUint32(8, true),
    sizeOfImage: view.getUint32(OPTIONAL + 0x38, true),
    checkSum: view.getUint32(OPTIONAL + 0x40, true),
    headerSize: view.getUint32(OPTIONAL + 0x3C, true),
    get sections() {
      return sections();
    },
    exceptions: readDirectory(image, directories, EXCEPTION_DIRECTORY),
    debug: readDirectory(image, directories, DEBUG_DIRECTORY),
  };
}

/** Opens an image file; null when it is none. */
export function openImageFile(source: ByteSource): { headers: PeHeaders; image: FileImage } | null {
  const whole = new FileImage(source, [{ rva: 0, offset: 0, size: source.size }]);
  const headers = readPeHeaders(whole);
  if (headers === null) return null;
  const stretches: FileStretch[] = headers.sections.map(({ rva, fileOffset, fileSize }) => ({
    rva,
    offset: fileOffset,
    size: fileSize,
  }));
  stretches.push({ rva: 0, offset: 0, size: Math.min(headers.headerSize, source.size) });
  return { headers, image: new FileImage(source, stretches) };
}

function readDirectory(image: ImageBytes, directories: number, index: number): DataDirectory | null {
  const count = image.read(directories - 4, 4);
  const entry = image.read(directories + index * 8, 8);
  if (count === undefined || entry === undefined || viewOf(count).getUint32(0, true) <= index) return null;
  const rva = viewOf(entry).getUint32(0, true);
  const size = viewOf(entry).getUint32(4, true);
  return rva === 0 || size === 0 ? null : { rva, size };
}

function readSections(image: ImageBytes, start: number, claimed: number): Section[] {
  const sections: Section[] = [];
  for (let index = 0; index < Math.min(claimed, MAXIMUM_SECTIONS); index++) {
    const bytes = image.read(start + index * SECTION_BYTES, SECTION_BYTES);
    if (bytes === undefined) break;
    sections.push(parseSection(bytes));
  }
  return sections;
}

/** Reads one 40-byte section header. */
export function parseSection(bytes: Uint8Array): Section {
  const view = viewOf(bytes);
  return {
    virtualSize: view.getUint32(8, true),
    rva: view.getUint32(12, true),
    fileSize: view.getUint32(16, true),
    fileOffset: view.getUint32(20, true),
    executable: (view.getUint32(36, true) & EXECUTABLE) !== 0,
  };
}
