/**
 * Fields that were never written. The kernel fills a new header with the letters `PAGE`, and some tools with
 * `X`, before they write fields; such a field is absent, and its filler is never decoded as a number or as flags.
 */

import type { ByteReader } from "../bytes.ts";
import type { Field } from "../layout.ts";

/** What an unwritten byte of a header looks like: by position for Windows, one letter for MemProcFS. */
export type Filler = "PAGE" | "PAGE or X";

const PAGE = [0x50, 0x41, 0x47, 0x45];
const WORDS: Readonly<Record<Filler, readonly string[]>> = {
  "PAGE": ["PAGE"],
  "PAGE or X": ["PAGE", "XXXX"],
};

/** Unwritten numbers; every field of a header but the single bytes lies where the pattern begins. */
const NUMBERS: Readonly<Record<Filler, readonly number[]>> = {
  "PAGE": [0x4547_4150],
  "PAGE or X": [0x4547_4150, 0x5858_5858],
};
const WIDE_NUMBERS: Readonly<Record<Filler, readonly bigint[]>> = {
  "PAGE": [0x4547_4150_4547_4150n],
  "PAGE or X": [0x4547_4150_4547_4150n, 0x5858_5858_5858_5858n],
};

/** Whether every byte of a range is filler. The range begins where the pattern does. */
function isFiller(bytes: Uint8Array, filler: Filler): boolean {
  const letters = String.fromCharCode(...bytes);
  return letters !== "" &&
    WORDS[filler].some((word) => word.repeat(letters.length / 4 + 1).startsWith(letters));
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
    if (!this.#reader.has(field.offset, field.size)) return null;
    const value = this.#reader.u32(field.offset, name);
    return NUMBERS[this.#filler].includes(value) ? null : value;
  }

  /** A 32-bit or 64-bit field, by the size in its layout. */
  wide(field: Field, name: string): bigint | null {
    if (field.size !== 8) {
      const value = this.number(field, name);
      return value === null ? null : BigInt(value);
    }
    if (!this.#reader.has(field.offset, field.size)) return null;
    const value = this.#reader.u64(field.offset, name);
    return WIDE_NUMBERS[this.#filler].includes(value) ? null : value;
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
    if (isFiller(bytes, this.#filler)) return null;
    const lettersKept = bytes.filter((byte, index) => byte === PAGE[index]).length;
    return value === PAGE[field.offset & 3] && lettersKept > 1 ? null : value;
  }

  /** NUL-terminated text; null as well when it is empty. */
  text(field: Field, name: string): string | null {
    if (!this.#reader.has(field.offset, 8)) return null;
    const length = Math.min(field.size, this.#reader.size - field.offset);
    if (isFiller(this.#reader.bytes(field.offset, length, name), this.#filler)) return null;
    const text = this.#reader.ascii(field.offset, length, name);
    return text === "" ? null : text;
  }
}
