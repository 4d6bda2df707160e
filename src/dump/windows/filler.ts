/**
 * Fields that were never written. The kernel fills a new header with the letters `PAGE`, and some tools with
 * `X`, before they write fields; such a field is absent, and its filler is never decoded as a number or as flags.
 */

import type { ByteReader } from "../bytes.ts";
import type { Field } from "../layout.ts";

/** What an unwritten byte of a header looks like: by position for Windows, one letter for MemProcFS. */
export type Filler = "PAGE" | "PAGE or X";

const PAGE = [0x50, 0x41, 0x47, 0x45];
const LETTER_X = 0x58;

/** Whether every byte of a range is filler; `offset` is from the header's start, where the pattern begins. */
export function isFiller(bytes: Uint8Array, offset: number, filler: Filler): boolean {
  if (bytes.length === 0) return false;
  const page = bytes.every((byte, index) => byte === PAGE[(offset + index) & 3]);
  return page || (filler === "PAGE or X" && bytes.every((byte) => byte === LETTER_X));
}

/** Reads the fields of one header; what is cut off or never written reads as null. */
export class HeaderFields {
  readonly #reader: ByteReader;
  readonly #filler: Filler;

  constructor(reader: ByteReader, filler: Filler) {
    this.#reader = reader;
    this.#filler = filler;
  }

  /** A 32-bit field. */
  number(field: Field, name: string): number | null {
    return this.#written(field, name) ? this.#reader.u32(field.offset, name) : null;
  }

  /** A 32-bit or 64-bit field, by the size in its layout. */
  wide(field: Field, name: string): bigint | null {
    if (!this.#written(field, name)) return null;
    return field.size === 8
      ? this.#reader.u64(field.offset, name)
      : BigInt(this.#reader.u32(field.offset, name));
  }

  /**
   * A one-byte field. One byte alone cannot be told from filler, so it counts as unwritten when it and another
   * byte of its dword hold their letters; a dword like `P`, 00, `GE` has a real 0 at its second byte.
   */
  byte(field: Field, name: string): number | null {
    const dword = field.offset - (field.offset & 3);
    if (!this.#reader.has(dword, 4)) return null;
    const bytes = this.#reader.bytes(dword, 4, name);
    const value = bytes[field.offset & 3] ?? 0;
    if (isFiller(bytes, dword, this.#filler)) return null;
    const lettersKept = bytes.filter((byte, index) => byte === PAGE[index]).length;
    return value === PAGE[field.offset & 3] && lettersKept > 1 ? null : value;
  }

  /** NUL-terminated text; null as well when it is empty. */
  text(field: Field, name: string): string | null {
    if (!this.#reader.has(field.offset, 8)) return null;
    const length = Math.min(field.size, this.#reader.size - field.offset);
    if (isFiller(this.#reader.bytes(field.offset, length, name), field.offset, this.#filler)) return null;
    const text = this.#reader.ascii(field.offset, length, name);
    return text === "" ? null : text;
  }

  #written(field: Field, name: string): boolean {
    return this.#reader.has(field.offset, field.size) &&
      !isFiller(this.#reader.bytes(field.offset, field.size, name), field.offset, this.#filler);
  }
}
